/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef int32_t s32;
typedef int64_t s64;

#define __bitwise
#define __force

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define __BIG_ENDIAN	4321
#endif

#endif /* _SHIM_LINUX_TYPES_H */
