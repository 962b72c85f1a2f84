/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about one I/O know of each other. */
#ifndef _FS_DAFS_DATA_IO_IMPL_H
#define _FS_DAFS_DATA_IO_IMPL_H

#include "data.h"

/* call.c */
int dafs_io_call(struct dafs_io *io, struct dafs_conn *conn);
bool dafs_io_adapt(struct dafs_io *io, enum dafs_action action);
ssize_t dafs_io_results(struct dafs_io *io);

/* io.c */
void dafs_io_answered(struct dafs_io *io);

#endif /* _FS_DAFS_DATA_IO_IMPL_H */
