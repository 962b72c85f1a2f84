# SPDX-License-Identifier: GPL-2.0
#
# Builds the three modules against an installed kernel; "make help" tells more.
# The KUnit suites are built too when that kernel has CONFIG_KUNIT.

KDIR ?= /lib/modules/$(shell uname -r)/build

CONFIGS := CONFIG_DAFS_COMMON=m CONFIG_DAFS_FS=m CONFIG_DAFSD=m
KBUILD := $(MAKE) -C $(KDIR) M=$(CURDIR) $(CONFIGS)

modules:
	+$(KBUILD) modules

modules_install:
	+$(KBUILD) modules_install

PREFIX ?= /usr/local
OCF ?= /usr/lib/ocf/resource.d/dafs

install-tools:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/include/linux
	install -m 755 tools/dafslock tools/dafsshare $(DESTDIR)$(PREFIX)/bin
	install -m 755 tools/dafsdctl $(DESTDIR)$(PREFIX)/sbin
	install -D -m 755 tools/ocf/dafsd $(DESTDIR)$(OCF)/dafsd
	install -m 644 include/uapi/linux/dafs.h $(DESTDIR)$(PREFIX)/include/linux

clean:
	+$(KBUILD) clean
	$(RM) -r tools/testing/__pycache__ tools/testing/*/__pycache__

check:
	tools/testing/check $(BASE)

help:
	@echo 'make                  builds dafs_common, dafs and dafsd'
	@echo 'make modules_install  installs them; run depmod afterwards'
	@echo 'make install-tools    installs dafslock, dafsshare, dafsdctl, linux/dafs.h and the OCF agent'
	@echo 'make clean            removes what was built'
	@echo 'make check            as root: style of what has changed, and KUnit suites for it'
	@echo
	@echo 'KDIR=FOLDER  kernel to build for; default: the running one'
	@echo 'PREFIX=FOLDER  where to install tools; default: /usr/local'
	@echo 'W=1 C=1      warnings of gcc; sparse'
	@echo 'BASE=COMMIT  for check: what to compare with; default: HEAD'
	@echo
	@echo 'All tests: tools/testing/run; see CONTRIBUTING.md'

.PHONY: modules modules_install install-tools clean check help
