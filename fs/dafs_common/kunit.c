// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites use of this module and others do not.  Built with the suites only, so
 * that other kernels export none of it.
 */
#include <kunit/visibility.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/responder.h>
#include "wire/cursor.h"
#include "rdma/rdma_impl.h"

#define TESTED	EXPORT_SYMBOL_IF_KUNIT

/* wire/ */
TESTED(dafs_elem_ace);
TESTED(dafs_elem_authtype);
TESTED(dafs_elem_completion);
TESTED(dafs_elem_direct_buf);
TESTED(dafs_elem_file_chunk);
TESTED(dafs_elem_fs_location);
TESTED(dafs_elem_fs_locations);
TESTED(dafs_elem_rw_request);
TESTED(dafs_elem_s32);
TESTED(dafs_encode_args);
TESTED(dafs_get_req_hdr);
TESTED(dafs_get_res_hdr);
TESTED(dafs_msg_cksum);
TESTED(dafs_probe_order);
TESTED(dafs_put_req_hdr);
TESTED(dafs_put_res_hdr);
TESTED(dafs_x_element);

/* rdma/ */
TESTED(dafs_chan_post_recvs);
TESTED(dafs_responder_most);
