// SPDX-License-Identifier: GPL-2.0
/*
 * Whom a user acts as in an export: what is squashed becomes the anonymous user.
 */
#include <linux/cred.h>
#include <linux/uidgid.h>
#include <kunit/visibility.h>
#include "../session/client.h"
#include "export.h"

static bool dafsd_squashes_uid(const struct dafsd_export *exp, kuid_t uid)
{
	return exp->all_squash || !uid_valid(uid) ||
	       (exp->root_squash && uid_eq(uid, GLOBAL_ROOT_UID));
}

static bool dafsd_squashes_gid(const struct dafsd_export *exp, kgid_t gid)
{
	return exp->all_squash || !gid_valid(gid) ||
	       (exp->root_squash && gid_eq(gid, GLOBAL_ROOT_GID));
}

static bool dafsd_squashes(const struct dafsd_export *exp, const struct cred *cred)
{
	const struct group_info *groups = cred->group_info;

	/* sorted, so that group 0 is the first */
	return dafsd_squashes_uid(exp, cred->fsuid) || dafsd_squashes_gid(exp, cred->fsgid) ||
	       (groups->ngroups && dafsd_squashes_gid(exp, groups->gid[0]));
}

/* Is nothing left of @cred in @exp, so that it is the anonymous user there? */
static bool dafsd_squashes_all(const struct dafsd_export *exp, const struct cred *cred)
{
	const struct group_info *groups = cred->group_info;
	int i;

	if (exp->all_squash)
		return true;
	if (!dafsd_squashes_uid(exp, cred->fsuid) || !dafsd_squashes_gid(exp, cred->fsgid))
		return false;
	for (i = 0; i < groups->ngroups; i++)
		if (!dafsd_squashes_gid(exp, groups->gid[i]))
			return false;
	return true;
}

/**
 * dafsd_cred_make_anon() - the anonymous user of an export
 * @exp: export with the ids of it
 *
 * Context: may sleep.
 * Return: a reference, or NULL when out of memory.
 */
const struct cred *dafsd_cred_make_anon(const struct dafsd_export *exp)
{
	return dafsd_cred_make_lone(exp->anon_uid, exp->anon_gid);
}

static struct group_info *dafsd_squash_groups(const struct dafsd_export *exp,
					      const struct group_info *from)
{
	struct group_info *groups = groups_alloc(from->ngroups);
	int i;

	if (!groups)
		return NULL;
	for (i = 0; i < groups->ngroups; i++)
		groups->gid[i] = dafsd_squashes_gid(exp, from->gid[i]) ? exp->anon_gid :
									  from->gid[i];
	groups_sort(groups);
	return groups;
}

/**
 * dafsd_cred_squash() - a user as an export sees it
 * @exp: export
 * @cred: the user
 *
 * Context: may sleep.
 * Return: a reference, to @cred itself if the export has nothing against it;
 * NULL when out of memory.
 */
const struct cred *dafsd_cred_squash(const struct dafsd_export *exp, const struct cred *cred)
{
	const struct cred *squashed;
	struct group_info *groups;
	kuid_t uid = cred->fsuid;
	kgid_t gid = cred->fsgid;

	if (!dafsd_squashes(exp, cred))
		return get_cred(cred);
	if (dafsd_squashes_all(exp, cred))
		return get_cred(exp->anon_cred);
	groups = dafsd_squash_groups(exp, cred->group_info);
	if (!groups)
		return NULL;
	if (dafsd_squashes_uid(exp, uid))
		uid = exp->anon_uid;
	if (dafsd_squashes_gid(exp, gid))
		gid = exp->anon_gid;
	squashed = dafsd_cred_make(uid, gid, groups);
	put_group_info(groups);
	return squashed;
}
EXPORT_SYMBOL_IF_KUNIT(dafsd_cred_squash);
