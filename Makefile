# SPDX-License-Identifier: GPL-2.0
#
# Builds the three modules against an installed kernel:
#
#	make [KDIR=/lib/modules/VERSION/build] [W=1] [C=1]
#	make modules_install
#
# The KUnit suites are built too when that kernel has CONFIG_KUNIT.

KDIR ?= /lib/modules/$(shell uname -r)/build

CONFIGS := CONFIG_DAFS_COMMON=m CONFIG_DAFS_FS=m CONFIG_DAFSD=m
KBUILD := $(MAKE) -C $(KDIR) M=$(CURDIR) $(CONFIGS)

modules:
	+$(KBUILD) modules

modules_install:
	+$(KBUILD) modules_install

clean:
	+$(KBUILD) clean

.PHONY: modules modules_install clean
