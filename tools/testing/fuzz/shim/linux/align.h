/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define ALIGN(x, a)		({					\
	__typeof__(x) __mask = (__typeof__(x))(a) - 1;			\
	((x) + __mask) & ~__mask; })
#define IS_ALIGNED(x, a)	(!((x) & ((a) - 1)))
