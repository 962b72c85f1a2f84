/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define __ffs64(x)		((unsigned int)__builtin_ctzll(x))
