/* SPDX-License-Identifier: GPL-2.0 */
/* What clients hold, for the administrator. */
#ifndef _DAFSD_ADMIN_ADMIN_H
#define _DAFSD_ADMIN_ADMIN_H

int dafsd_admin_init(void);
void dafsd_admin_exit(void);

#endif /* _DAFSD_ADMIN_ADMIN_H */
