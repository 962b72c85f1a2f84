/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define get_unaligned(ptr)	({					\
	const struct { __typeof__(*(ptr)) x; } __attribute__((packed)) *__p =	\
		(const void *)(ptr);					\
	__p->x; })
#define put_unaligned(val, ptr)	do {					\
	struct { __typeof__(*(ptr)) x; } __attribute__((packed)) *__p =	\
		(void *)(ptr);						\
	__p->x = (val);							\
} while (0)
