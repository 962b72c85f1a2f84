// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites use of this module and others do not.  Built with the suites only, so
 * that other kernels export none of it.
 */
#include <kunit/visibility.h>
#include <linux/workqueue.h>
#include "store/log.h"
#include "store/store.h"
#include "store/undo.h"
#include "session/server.h"
#include "session/client.h"
#include "session/conn.h"
#include "session/courtesy.h"
#include "session/peer.h"
#include "session/respcache.h"
#include "session/session.h"
#include "export/export.h"
#include "export/handle.h"
#include "export/location.h"
#include "request/request.h"
#include "state/deleg.h"
#include "state/file.h"
#include "state/hold.h"
#include "state/intent.h"
#include "state/lock_wait.h"
#include "state/persist_impl.h"
#include "state/state.h"

#define TESTED	EXPORT_SYMBOL_IF_KUNIT

/* store/ */
TESTED(dafsd_log_min);
TESTED(dafsd_log_pwrite);
TESTED(dafsd_log_sync);
TESTED(dafsd_rename_in);
TESTED(dafsd_state_dir);
TESTED(dafsd_store_close);
TESTED(dafsd_store_delete);
TESTED(dafsd_store_dir);
TESTED(dafsd_store_failed);
TESTED(dafsd_store_for_each);
TESTED(dafsd_store_max);
TESTED(dafsd_store_open);
TESTED(dafsd_store_put);
TESTED(dafsd_store_sync);
TESTED(dafsd_undo_arm);
TESTED(dafsd_undo_clean);
TESTED(dafsd_undo_count);
TESTED(dafsd_undo_create);
TESTED(dafsd_undo_delete);
TESTED(dafsd_undo_known);
TESTED(dafsd_undo_max);
TESTED(dafsd_undo_put);
TESTED(dafsd_undo_restore);
TESTED(dafsd_undo_save);

/* session/ */
TESTED(dafsd_client_end_id);
TESTED(dafsd_close_wq);
TESTED(dafsd_conn_idle);
TESTED(dafsd_conn_put);
TESTED(dafsd_courtesy_end);
TESTED(dafsd_courtesy_seconds);
TESTED(dafsd_cred_find);
TESTED(dafsd_grace_begin);
TESTED(dafsd_grace_exit);
TESTED(dafsd_grace_load);
TESTED(dafsd_in_grace);
TESTED(dafsd_lease_seconds);
TESTED(dafsd_max_delegations);
TESTED(dafsd_max_locks);
TESTED(dafsd_max_opens);
TESTED(dafsd_max_sessions);
TESTED(dafsd_max_state);
TESTED(dafsd_respcache_kind);
TESTED(dafsd_respcaches_load);
TESTED(dafsd_respcaches_unload);
TESTED(dafsd_server);
TESTED(dafsd_session_find);
TESTED(dafsd_session_put);
TESTED(dafsd_timer_wq);
TESTED(dafsd_wq);

/* export/ */
TESTED(dafsd_cred_squash);
TESTED(dafsd_export_change);
TESTED(dafsd_export_find);
TESTED(dafsd_export_nth);
TESTED(dafsd_export_put);
TESTED(dafsd_export_serve);
TESTED(dafsd_export_withdraw);
TESTED(dafsd_fh_sign);
TESTED(dafsd_place_served);
TESTED(dafsd_place_set);
TESTED(dafsd_place_show);
TESTED(dafsd_place_withdrawn);
TESTED(dafsd_withdraw_seconds);

/* state/ */
TESTED(dafsd_deleg_rest_seconds);
TESTED(dafsd_file_find);
TESTED(dafsd_file_put);
TESTED(dafsd_hold_end);
TESTED(dafsd_hold_queue);
TESTED(dafsd_hold_take);
TESTED(dafsd_hold_take_second);
TESTED(dafsd_intent_crash);
TESTED(dafsd_intents_settle);
TESTED(dafsd_lock_wait_ms);
TESTED(dafsd_persist_forget);
TESTED(dafsd_persist_list);
TESTED(dafsd_persist_load);
TESTED(dafsd_persist_max);
TESTED(dafsd_persist_nr);
TESTED(dafsd_persist_replaced);
TESTED(dafsd_persist_sem);
TESTED(dafsd_persist_serve);
TESTED(dafsd_persist_undo_later);
TESTED(dafsd_persist_unload);
TESTED(dafsd_recall_wait_ms);
TESTED(dafsd_state_get);
TESTED(dafsd_state_put_later);
TESTED(dafsd_states_expired);
TESTED(dafsd_states_forget_work);
TESTED(dafsd_states_max_expired);

/* request/ */
TESTED(dafsd_lane_most);
TESTED(dafsd_workers);
