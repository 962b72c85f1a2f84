// SPDX-License-Identifier: GPL-2.0
/*
 * The identity of this machine's clients for servers (2.4.3, 3.1.1.3).
 *
 * If a machine returns with the same id and another verifier, the server drops the
 * opens of its last instance at once; with another id they stay until the lease
 * expires.  So the id must not change over a reboot: it is made from the parameter
 * machine_id if given (meant for the content of /etc/machine-id), or else from the
 * firmware's id; otherwise it is random.  Servers see only a hash of it, and the host
 * name, so that clones of a machine differ.
 */
#include <linux/dmi.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/utsname.h>
#include <crypto/sha2.h>
#include <net/net_namespace.h>
#include "rpc_impl.h"

static char *machine_id = "";
module_param(machine_id, charp, 0400);
MODULE_PARM_DESC(machine_id,
		 "Permanent id of this machine, such as the content of /etc/machine-id; default from firmware, or random");

/* Salt, so that the hash differs from other hashes of the same id. */
static const char dafs_identity_salt[] = "Linux DAFS client";

static siphash_key_t dafs_instance_key;
static u64 dafs_machine;
static struct dafs_verifier dafs_client_verifier;

static u64 dafs_identity_hash(const char *id)
{
	u8 digest[SHA256_DIGEST_SIZE];
	struct sha256_state state;

	sha256_init(&state);
	sha256_update(&state, (const u8 *)dafs_identity_salt, sizeof(dafs_identity_salt));
	/* without a trailing newline */
	sha256_update(&state, (const u8 *)id, strcspn(id, "\n"));
	sha256_final(&state, digest);
	return get_unaligned_be64(digest);
}

/* A number that identifies this machine: the same after a reboot if there is an id. */
static u64 __init dafs_machine_number(void)
{
	const char *id = machine_id;

	if (!*id)
		id = dmi_get_system_info(DMI_PRODUCT_UUID);
	return id && *id ? dafs_identity_hash(id) : get_random_u64();
}

/**
 * dafs_identity_init() - what all clients of this machine have in common
 *
 * Context: module init.
 */
void __init dafs_identity_init(void)
{
	get_random_bytes(&dafs_instance_key, sizeof(dafs_instance_key));
	dafs_machine = dafs_machine_number();
	get_random_bytes(&dafs_client_verifier, sizeof(dafs_client_verifier));
}

/* Clients that share a port must differ (E.9): by their id, or by where they run. */
static void dafs_client_set_instance(struct dafs_client *clnt)
{
	u64 id = siphash(clnt->params.client_id, strlen(clnt->params.client_id),
			 &dafs_instance_key);

	id = siphash_2u64(id, clnt->params.net->net_cookie, &dafs_instance_key);
	memcpy(clnt->instance, &id, sizeof(clnt->instance));
}

/**
 * dafs_client_identify() - give a client its identity
 * @clnt: the client, with its parameters; its client-id-string, verifier and instance
 *	are set
 *
 * A client-id has one principal (3.1.1.3), so each way to authenticate has its own.
 *
 * Context: any.
 */
void dafs_client_identify(struct dafs_client *clnt)
{
	struct dafs_client_params *params = &clnt->params;

	if (!params->client_id[0])
		snprintf(params->client_id, sizeof(params->client_id),
			 "Linux DAFS %s/%016llx/%u", init_utsname()->nodename, dafs_machine,
			 params->auth_type);
	clnt->verifier = dafs_client_verifier;
	dafs_client_set_instance(clnt);
}
