// SPDX-License-Identifier: GPL-2.0
/*
 * Messages about sessions (6.2), the response cache (6.3), fencing (6.4) and
 * the back-control channel (6.6).
 */
#include "messages.h"

#define DAFS_AUTH_UNION		12	/* bytes of the unions in auth_req, auth_res */

static void dafs_x_auth_text(struct dafs_xdr *x, struct dafs_str *id, struct dafs_str *password)
{
	dafs_x_str(x, id);
	dafs_x_str(x, password);
}

/* dafs_auth_req, 6.1.9 */
static void dafs_x_auth_req(struct dafs_xdr *x, struct dafs_auth_req *req)
{
	u32 start;

	dafs_x_u32(x, &req->auth_type);
	start = dafs_x_align(x, 4);
	switch (req->auth_type) {
	case DAFS_AUTH_TEXT:
		dafs_x_auth_text(x, &req->auth_id, &req->auth_password);
		break;
	case DAFS_AUTH_GSS:
		dafs_x_u32(x, &req->procedure);
		dafs_x_u32(x, &req->service);
		dafs_x_str(x, &req->token);
		break;
	}
	dafs_x_union_end(x, start, DAFS_AUTH_UNION);
}

/* dafs_auth_res, 6.1.9 */
static void dafs_x_auth_res(struct dafs_xdr *x, struct dafs_auth_res *res)
{
	u32 start;

	dafs_x_u32(x, &res->auth_type);
	start = dafs_x_align(x, 4);
	if (res->auth_type == DAFS_AUTH_GSS) {
		dafs_x_u32(x, &res->gss_major);
		dafs_x_u32(x, &res->gss_minor);
		dafs_x_str(x, &res->gss_token);
	}
	dafs_x_union_end(x, start, DAFS_AUTH_UNION);
}

static void dafs_x_connect_opts(struct dafs_xdr *x, struct dafs_connect_opts *opts)
{
	dafs_x_bool32(x, &opts->use_checksums);
	dafs_x_bool32(x, &opts->use_response_cache);
	dafs_x_u32(x, &opts->max_credentials);
	dafs_x_u32(x, &opts->max_request_size);
	dafs_x_u32(x, &opts->max_response_size);
	dafs_x_u32(x, &opts->max_requests);
	dafs_x_u32(x, &opts->inline_write_header_size);
	dafs_x_bool32(x, &opts->use_back_control_channel);
	dafs_x_bool32(x, &opts->use_rdma_read_channel);
}

/* Arguments of CLIENT_AUTH, 6.2.2 */
void dafs_x_client_auth_args(struct dafs_xdr *x, void *p)
{
	struct dafs_client_auth_args *args = p;

	dafs_x_auth_req(x, &args->auth_req);
}

/* Results of CLIENT_AUTH, 6.2.2 */
void dafs_x_client_auth_res(struct dafs_xdr *x, void *p)
{
	struct dafs_client_auth_res *res = p;

	dafs_x_auth_res(x, &res->auth_res);
	dafs_x_bool8(x, &res->trusted);
}

/* Arguments of CLIENT_CONNECT, 6.2.1 */
void dafs_x_client_connect_args(struct dafs_xdr *x, void *p)
{
	struct dafs_client_connect_args *args = p;

	dafs_x_connect_opts(x, &args->opts);
	dafs_x_str(x, &args->fence_id_string);
	dafs_x_str(x, &args->client_id_string);
	dafs_x_opaque64(x, args->client_verifier.b);
}

/* Results of CLIENT_CONNECT, 6.2.1 */
void dafs_x_client_connect_res(struct dafs_xdr *x, void *p)
{
	struct dafs_client_connect_res *res = p;

	dafs_x_opaque64(x, res->session_id.b);
	dafs_x_opaque64(x, res->client_id.b);
	dafs_x_connect_opts(x, &res->opts);
}

/* Arguments of CLIENT_CONNECT_AUTH, 6.2.4 */
void dafs_x_client_connect_auth_args(struct dafs_xdr *x, void *p)
{
	struct dafs_client_connect_auth_args *args = p;

	dafs_x_client_connect_args(x, &args->connect);
	dafs_x_auth_req(x, &args->auth_req);
}

/* Results of CLIENT_CONNECT_AUTH, 6.2.4 */
void dafs_x_client_connect_auth_res(struct dafs_xdr *x, void *p)
{
	struct dafs_client_connect_auth_res *res = p;

	dafs_x_client_connect_res(x, &res->connect);
	dafs_x_auth_res(x, &res->auth_res);
	dafs_x_bool8(x, &res->trusted);
}

/* Arguments of CONNECT_BIND, 6.2.5 */
void dafs_x_connect_bind_args(struct dafs_xdr *x, void *p)
{
	struct dafs_connect_bind_args *args = p;

	dafs_x_opaque64(x, args->session_id.b);
	dafs_x_u16(x, &args->channel_use);
	dafs_x_u32(x, &args->max_request_size);
	dafs_x_u32(x, &args->max_response_size);
	dafs_x_u32(x, &args->max_requests);
	dafs_x_auth_req(x, &args->auth_req);
}

/* Results of CONNECT_BIND, 6.2.5 */
void dafs_x_connect_bind_res(struct dafs_xdr *x, void *p)
{
	struct dafs_connect_bind_res *res = p;

	dafs_x_u32(x, &res->max_request_size);
	dafs_x_u32(x, &res->max_response_size);
	dafs_x_u32(x, &res->max_requests);
	dafs_x_auth_res(x, &res->auth_res);
	dafs_x_bool8(x, &res->trusted);
}

/* Arguments of REGISTER_CRED, 6.2.8 */
void dafs_x_register_cred_args(struct dafs_xdr *x, void *p)
{
	struct dafs_register_cred_args *args = p;

	dafs_x_u32(x, &args->cred_type);
	switch (args->cred_type) {
	case DAFS_CRED_ID:
		dafs_x_s32(x, &args->uid);
		dafs_x_s32(x, &args->gid);
		dafs_x_seq(x, &args->groups, &dafs_elem_s32);
		break;
	case DAFS_CRED_NAME:
	case DAFS_CRED_GSS:
		dafs_x_str(x, &args->name);
		break;
	}
}

/* Results of REGISTER_CRED, 6.2.8 */
void dafs_x_register_cred_res(struct dafs_xdr *x, void *p)
{
	struct dafs_register_cred_res *res = p;

	dafs_x_opaque32(x, res->cred_handle);
}

/* Arguments of RELEASE_CRED, 6.2.9 */
void dafs_x_release_cred_args(struct dafs_xdr *x, void *p)
{
	struct dafs_release_cred_args *args = p;

	dafs_x_opaque32(x, args->cred_handle);
}

/* Results of SECINFO, 6.2.7 */
void dafs_x_secinfo_res(struct dafs_xdr *x, void *p)
{
	struct dafs_secinfo_res *res = p;

	dafs_x_seq(x, &res->secinfo, &dafs_elem_authtype);
}

/* Arguments of SERVER_AUTH, 6.2.3 */
void dafs_x_server_auth_args(struct dafs_xdr *x, void *p)
{
	struct dafs_server_auth_args *args = p;

	dafs_x_u32(x, &args->auth_type);
}

/* Results of SERVER_AUTH, 6.2.3 */
void dafs_x_server_auth_res(struct dafs_xdr *x, void *p)
{
	struct dafs_server_auth_res *res = p;

	if (res->auth_type == DAFS_AUTH_TEXT)
		dafs_x_auth_text(x, &res->auth_id, &res->auth_password);
}

/* Arguments of CHECK_RESPONSE, FETCH_RESPONSE, 6.3.1, 6.3.2 */
void dafs_x_check_response_args(struct dafs_xdr *x, void *p)
{
	struct dafs_check_response_args *args = p;

	dafs_x_opaque64(x, args->session_id.b);
	dafs_x_u16(x, &args->xid_stream);
	dafs_x_u16(x, &args->xid_seq);
	dafs_x_u32(x, &args->procedure);
}

/* Arguments of DISCARD_RESPONSES, 6.3.3 */
void dafs_x_discard_responses_args(struct dafs_xdr *x, void *p)
{
	struct dafs_discard_responses_args *args = p;

	dafs_x_opaque64(x, args->session_id.b);
}

/* Arguments of GET_FENCING_LIST, 6.4.1 */
void dafs_x_get_fencing_list_args(struct dafs_xdr *x, void *p)
{
	struct dafs_get_fencing_list_args *args = p;

	dafs_x_fh(x, &args->filehandle);
}

/*
 * Results of GET_FENCING_LIST, 6.4.1.
 *
 * The one place where offset 0 and an empty array differ (E-110).
 */
void dafs_x_get_fencing_list_res(struct dafs_xdr *x, void *p)
{
	struct dafs_get_fencing_list_res *res = p;

	if (x->encode) {
		if (!res->null_list)
			dafs_x_path(x, &res->fence_list);
		return;
	}
	res->null_list = !dafs_x_peek_u32(x);
	dafs_x_path(x, &res->fence_list);
}

/* Arguments of SET_FENCING_LIST, 6.4.2 */
void dafs_x_set_fencing_list_args(struct dafs_xdr *x, void *p)
{
	struct dafs_set_fencing_list_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_u32(x, &args->object);
	dafs_x_u32(x, &args->access);
	dafs_x_u32(x, &args->update);
	dafs_x_path(x, &args->fence_list);
}

/* Arguments of BC_RECALL, 6.6.4 */
void dafs_x_bc_recall_args(struct dafs_xdr *x, void *p)
{
	struct dafs_bc_recall_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_bool32(x, &args->truncate);
}
