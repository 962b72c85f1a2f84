#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Look at the netfs library of the kernel that is built for, and print what
# netfs_compat.h wants to know as compiler options.
#
# usage: netfs-probe.sh include/linux/netfs.h

# The prototype of a function, on one line.
prototype()
{
	tr -s '\n\t ' '   ' <"$header" | grep -o "void $1([^)]*)"
}

has()
{
	prototype "$1" | grep -q "$2" && printf ' -D%s' "$3"
}

header=$1
has netfs_read_subreq_terminated error DAFS_NETFS_READ_ERROR
has netfs_read_subreq_terminated was_async DAFS_NETFS_READ_ASYNC
has netfs_write_subrequest_terminated was_async DAFS_NETFS_WRITE_ASYNC
has netfs_clear_stale_post_isize from DAFS_NETFS_CLEAR_STALE
exit 0
