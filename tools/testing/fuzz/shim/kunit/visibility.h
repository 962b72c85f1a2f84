/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define EXPORT_SYMBOL_IF_KUNIT(name)	_Static_assert(1, #name)
