/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define min(a, b)		({					\
	__typeof__(a) __a = (a);					\
	__typeof__(b) __b = (b);					\
	__a < __b ? __a : __b; })
#define max(a, b)		({					\
	__typeof__(a) __a = (a);					\
	__typeof__(b) __b = (b);					\
	__a > __b ? __a : __b; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
