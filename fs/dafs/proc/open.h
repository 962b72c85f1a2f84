/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OPEN in all its ways, and CLOSE.
 */
#ifndef _FS_DAFS_PROC_OPEN_H
#define _FS_DAFS_PROC_OPEN_H

#include "name.h"

/**
 * struct dafs_open_how - what the ways of opening a file have in common
 * @owner: open owner, unique for each open of this client (E-82)
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @deny: DAFS_OPEN_SHARE_DENY_*
 * @create: make the file if it is not there
 * @mode: with @create: DAFS_CREATE_*
 * @attr: with @create: initial attributes; of DAFS_CREATE_EXCLUSIVE, which has none
 *	(6.5.24), set by a SETATTR in the same chain
 * @verifier: with DAFS_CREATE_EXCLUSIVE
 * @leave: see struct dafs_op; heeded by dafs_open_reclaim()
 * @nodelay: likewise
 * @shared: others use the open that is reclaimed, so it is not closed where the caller
 *	gives up
 * @anew: of dafs_open_handle()
 * @delegable: the caller can make use of a delegation
 * @former: of dafs_open_reclaim(): the delegation that came with the open before the server
 *	was restarted, DAFS_OPEN_DELEGATE_*
 * @keyed: it has @share_key
 * @share_key: other opens of the file must have the same one, or none (4.4.2, E-73)
 */
struct dafs_open_how {
	struct dafs_str owner;
	u32 access;
	u32 deny;
	bool create;
	u32 mode;
	const struct dafs_fattr *attr;
	struct dafs_verifier verifier;
	const bool *leave;
	bool nodelay;
	bool shared;
	bool anew;
	bool delegable;
	u32 former;
	bool keyed;
	u64 share_key;
};

/**
 * struct dafs_delegation - what OPEN has delegated (6.5.24)
 * @type: DAFS_OPEN_DELEGATE_*
 * @state_id: names the delegation
 * @recalled: it is to be returned at once
 */
struct dafs_delegation {
	u32 type;
	struct dafs_state_id state_id;
	bool recalled;
};

/**
 * struct dafs_opened - what OPEN returned
 * @open: the server has the file open now, even if what followed in a chain failed
 * @fh: the file
 * @state_id: names the open from now on
 * @change: of the directory, if the file was opened by name
 * @client_id: what the server keeps the open under
 * @delegation: for the caller to return, if it was @delegable, or there was a @former one;
 *	@delegation.recalled only if it is the latter
 * @status: DAFS status of the response; OK also if there was none
 */
struct dafs_opened {
	bool open;
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	struct dafs_change_info change;
	struct dafs_client_id client_id;
	struct dafs_delegation delegation;
	dafs_status_t status;
};

int dafs_open(struct dafs_client *clnt, const struct cred *cred,
	      const struct dafs_fh *dir, const struct qstr *name,
	      const struct dafs_open_how *how, struct dafs_opened *opened);
int dafs_open_attrs(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *dir, const struct qstr *name,
		    const struct dafs_open_how *how, u64 bitmap, struct dafs_opened *opened,
		    struct dafs_found *found);
int dafs_open_unlinked(struct dafs_client *clnt, const struct cred *cred,
		       const struct dafs_fh *dir, const struct dafs_open_how *how,
		       struct dafs_opened *opened);
int dafs_open_reclaim(struct dafs_client *clnt, struct dafs_conn *conn,
		      const struct cred *cred, const struct dafs_fh *fh,
		      const struct dafs_open_how *how, struct dafs_opened *opened);
int dafs_open_handle(struct dafs_client *clnt, const struct cred *cred, const struct dafs_fh *fh,
		     const struct dafs_open_how *how, struct dafs_opened *opened);
int dafs_open_downgrade(struct dafs_client *clnt, const struct cred *cred,
			struct dafs_open_downgrade_args *args, const bool *leave,
			dafs_status_t *status);
int dafs_close_unless(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		      const bool *leave);
int dafs_close_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		  dafs_status_t *status);
int dafs_close(struct dafs_client *clnt, const struct cred *cred,
	       const struct dafs_fh *fh, const struct dafs_state_id *state_id);
int dafs_close_and_return(struct dafs_client *clnt, const struct cred *cred,
			  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
			  const struct dafs_state_id *deleg, const bool *leave);
int dafs_delegreturn(struct dafs_client *clnt, const struct dafs_state_id *state_id,
		     const bool *leave);

#endif /* _FS_DAFS_PROC_OPEN_H */
