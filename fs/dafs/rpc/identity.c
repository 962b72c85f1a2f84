// SPDX-License-Identifier: GPL-2.0
/*
 * The identity of this machine for servers (2.4.3, 3.1.1.3).
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
#include <linux/string.h>
#include <linux/unaligned.h>
#include <crypto/sha2.h>
#include "rpc_impl.h"

static char *machine_id = "";
module_param(machine_id, charp, 0400);
MODULE_PARM_DESC(machine_id,
		 "Permanent id of this machine, such as the content of /etc/machine-id; default from firmware, or random");

/* Salt, so that the hash differs from other hashes of the same id. */
static const char dafs_identity_salt[] = "Linux DAFS client";

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

/**
 * dafs_machine_number() - a number that identifies this machine
 *
 * Context: module init.
 * Return: the number, the same after a reboot if there is an id.
 */
u64 __init dafs_machine_number(void)
{
	const char *id = machine_id;

	if (!*id)
		id = dmi_get_system_info(DMI_PRODUCT_UUID);
	return id && *id ? dafs_identity_hash(id) : get_random_u64();
}
