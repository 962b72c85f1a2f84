// SPDX-License-Identifier: GPL-2.0
/*
 * Whom a user acts as in an export: what is squashed becomes the anonymous user.
 */
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include "../session/client.h"
#include "export.h"

static bool dafsd_squashes_uid(const struct dafsd_squash *squash, kuid_t uid)
{
	return squash->all || !uid_valid(uid) || (squash->root && uid_eq(uid, GLOBAL_ROOT_UID));
}

static bool dafsd_squashes_gid(const struct dafsd_squash *squash, kgid_t gid)
{
	return squash->all || !gid_valid(gid) || (squash->root && gid_eq(gid, GLOBAL_ROOT_GID));
}

static bool dafsd_squashes(const struct dafsd_squash *squash, const struct cred *cred)
{
	const struct group_info *groups = cred->group_info;

	/* sorted, so that group 0 is the first */
	return dafsd_squashes_uid(squash, cred->fsuid) ||
	       dafsd_squashes_gid(squash, cred->fsgid) ||
	       (groups->ngroups && dafsd_squashes_gid(squash, groups->gid[0]));
}

/* Is nothing left of @cred, so that it is the anonymous user? */
static bool dafsd_squashes_all(const struct dafsd_squash *squash, const struct cred *cred)
{
	const struct group_info *groups = cred->group_info;
	int i;

	if (squash->all)
		return true;
	if (!dafsd_squashes_uid(squash, cred->fsuid) || !dafsd_squashes_gid(squash, cred->fsgid))
		return false;
	for (i = 0; i < groups->ngroups; i++)
		if (!dafsd_squashes_gid(squash, groups->gid[i]))
			return false;
	return true;
}

/**
 * dafsd_squash_make() - make the anonymous user of an export
 * @uid: its ids
 * @gid: likewise
 *
 * Context: may sleep.
 * Return: the object, with both flags clear, to be freed by dafsd_squash_free(); or NULL if
 * out of memory.
 */
struct dafsd_squash *dafsd_squash_make(kuid_t uid, kgid_t gid)
{
	struct dafsd_squash *squash = kzalloc(sizeof(*squash), GFP_KERNEL);

	if (!squash)
		return NULL;
	squash->uid = uid;
	squash->gid = gid;
	squash->anon = dafsd_cred_make_lone(uid, gid);
	if (squash->anon)
		return squash;
	kfree(squash);
	return NULL;
}

/**
 * dafsd_squash_free() - undo dafsd_squash_make()
 * @squash: no reader has it any more; or NULL
 *
 * Context: any.
 */
void dafsd_squash_free(struct dafsd_squash *squash)
{
	if (!squash)
		return;
	put_cred(squash->anon);
	kfree(squash);
}

static struct group_info *dafsd_squash_groups(const struct dafsd_squash *squash,
					      const struct group_info *from)
{
	struct group_info *groups = groups_alloc(from->ngroups);
	int i;

	if (!groups)
		return NULL;
	for (i = 0; i < groups->ngroups; i++)
		groups->gid[i] = dafsd_squashes_gid(squash, from->gid[i]) ? squash->gid :
									    from->gid[i];
	groups_sort(groups);
	return groups;
}

/* A user some of whose ids are squashed */
static const struct cred *dafsd_squash_part(const struct dafsd_squash *squash,
					    const struct cred *cred)
{
	struct group_info *groups = dafsd_squash_groups(squash, cred->group_info);
	const struct cred *squashed;
	kuid_t uid = cred->fsuid;
	kgid_t gid = cred->fsgid;

	if (!groups)
		return NULL;
	if (dafsd_squashes_uid(squash, uid))
		uid = squash->uid;
	if (dafsd_squashes_gid(squash, gid))
		gid = squash->gid;
	squashed = dafsd_cred_make(uid, gid, groups);
	put_group_info(groups);
	return squashed;
}

/* Return: a user none or all of whose ids are squashed; NULL for others. */
static const struct cred *dafsd_squash_whole(const struct dafsd_squash *squash,
					     const struct cred *cred)
{
	if (!dafsd_squashes(squash, cred))
		return get_cred(cred);
	return dafsd_squashes_all(squash, cred) ? get_cred(squash->anon) : NULL;
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
	struct dafsd_squash squash;

	rcu_read_lock();
	/* the copy stays valid after the unlock, but for its anonymous user */
	squash = *rcu_dereference(exp->squash);
	squashed = dafsd_squash_whole(&squash, cred);
	rcu_read_unlock();
	return squashed ?: dafsd_squash_part(&squash, cred);
}
