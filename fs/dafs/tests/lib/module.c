// SPDX-License-Identifier: GPL-2.0
/* The KUnit suites of the procedures: the client's functions and the real server. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of the DAFS procedures");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_SOFTDEP("pre: dafs dafsd");
