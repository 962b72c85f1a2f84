// SPDX-License-Identifier: GPL-2.0
/*
 * Who this machine is to servers (2.4.3, 3.1.1.3).
 *
 * A machine that comes back under the same name, with another verifier, tells the
 * server that what the last instance had open is of no use any more.  Under another
 * name it would have to wait until the lease of the last one ends.  So the name is
 * made of what a reboot does not change: machine_id if it is given, which is meant
 * to be the content of /etc/machine-id; or what the firmware calls this machine.
 * Otherwise it is random.  Whatever it is made of, only a hash of it is shown to
 * servers, and the host's name besides, so that copies of a machine differ.
 */
#include <linux/dmi.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <crypto/sha2.h>
#include "session_impl.h"

static char *machine_id = "";
module_param(machine_id, charp, 0400);
MODULE_PARM_DESC(machine_id,
		 "What identifies this machine for ever, such as the content of /etc/machine-id; default from the firmware, or else random");

/* So that the same input is worth nothing elsewhere. */
static const char dafs_identity_salt[] = "Linux DAFS client";

static u64 dafs_identity_hash(const char *id)
{
	u8 digest[SHA256_DIGEST_SIZE];
	struct sha256_state state;

	sha256_init(&state);
	sha256_update(&state, (const u8 *)dafs_identity_salt, sizeof(dafs_identity_salt));
	/* without the end of the line of the file that it came from */
	sha256_update(&state, (const u8 *)id, strcspn(id, "\n"));
	sha256_final(&state, digest);
	return get_unaligned_be64(digest);
}

/**
 * dafs_machine_number() - a number that stands for this machine
 *
 * Context: module init.
 * Return: the same after a reboot, if there is something to make it of.
 */
u64 __init dafs_machine_number(void)
{
	const char *id = machine_id;

	if (!*id)
		id = dmi_get_system_info(DMI_PRODUCT_UUID);
	return id && *id ? dafs_identity_hash(id) : get_random_u64();
}
