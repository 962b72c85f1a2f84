/* SPDX-License-Identifier: GPL-2.0 */
/* What the codec needs of the kernel header of this name, in user space. */
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
