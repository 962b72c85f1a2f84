/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's own header includes this one, so go to where the numbers are. */
#include <asm/errno.h>
