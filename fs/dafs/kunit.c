// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites use of this module and others do not.  Built with the suites only, so
 * that other kernels export none of it.
 */
#include <kunit/visibility.h>
#include "data/data.h"
#include "proc/location.h"
#include "proc/proc.h"
#include "rpc/rpc_impl.h"
#include "state/lock.h"
#include "state/reserve.h"
#include "vfs/vfs.h"

#define TESTED	EXPORT_SYMBOL_IF_KUNIT

/* data/ */
TESTED(dafs_io_run);
TESTED(dafs_io_start);
TESTED(dafs_rdma_refused);

/* state/ */
TESTED(dafs_held_at);
TESTED(dafs_held_clear);
TESTED(dafs_held_exit);
TESTED(dafs_held_init);
TESTED(dafs_held_set);
TESTED(dafs_held_set_local);
TESTED(dafs_locks_any);
TESTED(dafs_open_state_id);
TESTED(dafs_open_state_leave);
TESTED(dafs_open_state_named);
TESTED(dafs_open_state_put);
TESTED(dafs_open_state_recover);
TESTED(dafs_open_state_widen);
TESTED(dafs_reserve);
TESTED(dafs_reserve_lost);

/* vfs/ */
TESTED(dafs_file_abort);
TESTED(dafs_file_lock_with);

/* proc/ */
TESTED(dafs_access);
TESTED(dafs_append);
TESTED(dafs_close);
TESTED(dafs_commit);
TESTED(dafs_create_attrs);
TESTED(dafs_fattr_take);
TESTED(dafs_get_fsattr);
TESTED(dafs_get_locations);
TESTED(dafs_get_root_handle);
TESTED(dafs_getattr);
TESTED(dafs_link);
TESTED(dafs_lookup);
TESTED(dafs_lookup_attrs);
TESTED(dafs_lookup_parent);
TESTED(dafs_lookup_path);
TESTED(dafs_open);
TESTED(dafs_open_attrs);
TESTED(dafs_open_downgrade);
TESTED(dafs_open_reclaim);
TESTED(dafs_open_unlinked);
TESTED(dafs_proc_call);
TESTED(dafs_proc_received);
TESTED(dafs_proc_simple);
TESTED(dafs_readdir);
TESTED(dafs_readdir_direct);
TESTED(dafs_readdir_rest);
TESTED(dafs_readlink);
TESTED(dafs_readlink_direct);
TESTED(dafs_remove);
TESTED(dafs_rename);
TESTED(dafs_write_inline_fill);

/* rpc/ */
TESTED(dafs_addr_equal);
TESTED(dafs_backoff);
TESTED(dafs_client_add_recoverer);
TESTED(dafs_client_alternates);
TESTED(dafs_client_busy);
TESTED(dafs_client_create);
TESTED(dafs_client_del_recoverer);
TESTED(dafs_client_get);
TESTED(dafs_client_has_lease);
TESTED(dafs_client_lease_end);
TESTED(dafs_client_leased_since);
TESTED(dafs_client_look_again);
TESTED(dafs_client_path_info);
TESTED(dafs_client_put);
TESTED(dafs_client_renewed);
TESTED(dafs_client_set_alternates);
TESTED(dafs_client_set_lease);
TESTED(dafs_client_set_paths);
TESTED(dafs_client_shutdown);
TESTED(dafs_conn_failed);
TESTED(dafs_conn_get);
TESTED(dafs_conn_present);
TESTED(dafs_conn_put);
TESTED(dafs_cred_cache_age);
TESTED(dafs_cred_handle);
TESTED(dafs_exits_while_down);
TESTED(dafs_next_delay);
TESTED(dafs_op_end);
TESTED(dafs_op_run);
TESTED(dafs_path_try_get);
TESTED(dafs_reconnect_max_delay_ms);
TESTED(dafs_reconnect_min_delay_ms);
TESTED(dafs_retry);
TESTED(dafs_tries_restart);
