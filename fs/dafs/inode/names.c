// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the names in a directory, and what they do to the names that are cached.
 */
#include "inode.h"

/**
 * dafs_dir_gen() - the generation of a directory, for the names found in it
 * @dir: the directory
 *
 * Context: any.
 * Return: generation for d_time; to be read before the request is sent.
 */
unsigned long dafs_dir_gen(const struct inode *dir)
{
	return READ_ONCE(DAFS_I(dir)->dir_gen);
}

/**
 * dafs_dir_changed() - this client has changed a directory
 * @dir: the directory
 * @change: its change attribute before and after, from the response
 *
 * If no other client changed it in between, its other cached names stay valid.
 * Otherwise the cached change attribute differs from the one before, and the next
 * GETATTR returns yet another.
 *
 * Context: any but hard interrupt.
 */
void dafs_dir_changed(struct inode *dir, const struct dafs_change_info *change)
{
	struct dafs_inode *di = DAFS_I(dir);

	spin_lock(&di->lock);
	dafs_attr_outdate(di);
	if (change->atomic && change->before == di->change)
		di->change = change->after;
	else
		set_bit(DAFS_INO_STALE, &di->flags);
	set_bit(DAFS_INO_STALE_STAT, &di->flags);
	spin_unlock(&di->lock);
}
