/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define swab16(x)		__builtin_bswap16(x)
#define swab32(x)		__builtin_bswap32(x)
#define swab64(x)		__builtin_bswap64(x)
