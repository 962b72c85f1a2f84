// SPDX-License-Identifier: GPL-2.0
/*
 * Glue between the netfs library and the server: each netfs subrequest is one struct
 * dafs_io.
 *
 * The library never has to retry or split a subrequest: a dafs_io ends when all of it
 * is done, or with a permanent error (io.c).
 *
 * Buffered data is written UNSTABLE and committed later, see unstable.c.  Direct
 * I/O does not come here, see direct.c.
 */
#include <linux/mempool.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "data.h"
#include "netfs_compat.h"

/* Looks at responses; see dafs_init_workqueues() */
struct workqueue_struct *dafs_done_wq;

#define DAFS_SUBREQ_RESERVE	16

/**
 * struct dafs_request - a request of the netfs library
 * @rreq: must come first; the library allocates the whole structure from our pool
 * @held: it holds a reference on its inode
 */
struct dafs_request {
	struct netfs_io_request rreq;
	bool held;
};

/**
 * struct dafs_subreq - a subrequest of the netfs library with its I/O
 * @subreq: must come first; the library allocates the whole structure from our pool
 * @io: the I/O
 * @extent: the folios of an unstable write
 */
struct dafs_subreq {
	struct netfs_io_subrequest subreq;
	struct dafs_io io;
	struct dafs_extent *extent;
};

static struct kmem_cache *dafs_request_cachep;
static struct kmem_cache *dafs_subreq_cachep;
static mempool_t dafs_request_pool;
static mempool_t dafs_subreq_pool;

static struct dafs_subreq *dafs_subreq(struct netfs_io_subrequest *subreq)
{
	return container_of(subreq, struct dafs_subreq, subreq);
}

static struct dafs_request *dafs_request(struct netfs_io_request *rreq)
{
	return container_of(rreq, struct dafs_request, rreq);
}

static bool dafs_request_writes(const struct netfs_io_request *rreq)
{
	return rreq->origin == NETFS_WRITEBACK || rreq->origin == NETFS_WRITETHROUGH;
}

/* The open of @file if it allows this access, or else any other that does. */
static struct dafs_open_state *dafs_request_open(struct dafs_inode *di, struct file *file,
						 u32 access)
{
	struct dafs_open_state *os = file ? file->private_data : NULL;

	if (os && (os->access & access)) {
		dafs_open_state_hold(os);
		return os;
	}
	return dafs_open_state_find(di, access, NULL);
}

/* netfs_priv is the open or NULL, netfs_priv2 the credential. */
static void dafs_request_set_open(struct netfs_io_request *rreq, struct file *file,
				  u32 access)
{
	struct dafs_open_state *os = dafs_request_open(DAFS_I(rreq->inode), file, access);

	rreq->netfs_priv = os;
	rreq->netfs_priv2 = (void *)get_cred(os ? os->cred :
					     file ? file->f_cred : current_cred());
}

static int dafs_init_request(struct netfs_io_request *rreq, struct file *file)
{
	const struct dafs_options *opts = &DAFS_SB(rreq->inode->i_sb)->opts;

	dafs_request(rreq)->held = dafs_inode_hold(rreq->inode);
	rreq->rsize = opts->rsize;
	rreq->wsize = opts->wsize;
	/* Write-back chooses its open later, when it has found data to write. */
	if (rreq->origin == NETFS_WRITEBACK)
		return 0;
	dafs_request_set_open(rreq, file, dafs_request_writes(rreq) ?
					  DAFS_OPEN_SHARE_ACCESS_WRITE :
					  DAFS_OPEN_SHARE_ACCESS_READ);
	return 0;
}

static void dafs_free_request(struct netfs_io_request *rreq)
{
	if (rreq->netfs_priv)
		dafs_open_state_put(rreq->netfs_priv, false);
	put_cred(rreq->netfs_priv2);
	if (dafs_request(rreq)->held)
		dafs_inode_put_later(rreq->inode);
}

static void dafs_begin_writeback(struct netfs_io_request *wreq)
{
	struct dafs_inode *di = DAFS_I(wreq->inode);
	const struct cred *cred = dafs_writer_get(di);

	/* without an open of this user the server checks the mode of the file */
	wreq->netfs_priv = dafs_open_state_find_writer(di, cred);
	wreq->netfs_priv2 = (void *)cred;
	wreq->io_streams[0].avail = true;
}

/*
 * How much to read at once: at most rsize, and not across a multiple of the largest
 * folio size, so that no folio is filled by two reads.  The library could collect a
 * folio from several subrequests, but that is slow.
 */
static int dafs_prepare_read(struct netfs_io_subrequest *subreq)
{
	struct netfs_io_request *rreq = subreq->rreq;
	u64 start = subreq->start + subreq->transferred;
	u64 align = mapping_max_folio_size(rreq->mapping);
	u64 end = round_down(start + rreq->rsize, align);

	rreq->io_streams[0].sreq_max_len = end - start;
	return 0;
}

static void dafs_subreq_io_init(struct netfs_io_subrequest *subreq)
{
	struct netfs_io_request *rreq = subreq->rreq;
	struct dafs_io *io = &dafs_subreq(subreq)->io;

	/* The other fields are zero: the library clears the structure. */
	io->sbi = DAFS_SB(rreq->inode->i_sb);
	io->di = DAFS_I(rreq->inode);
	io->open = rreq->netfs_priv;
	io->cred = rreq->netfs_priv2;
	io->iter = subreq->io_iter;
	io->pos = subreq->start;
	io->len = subreq->len;
	io->priv = subreq;
}

static void dafs_read_complete(struct dafs_io *io, int err)
{
	struct netfs_io_subrequest *subreq = io->priv;

	subreq->error = err;
	if (!err) {
		subreq->transferred = io->done;
		/* The library zeroes the part beyond the end of file. */
		if (io->eof)
			__set_bit(NETFS_SREQ_HIT_EOF, &subreq->flags);
	}
	dafs_netfs_read_done(subreq);
}

static void dafs_issue_read(struct netfs_io_subrequest *subreq)
{
	struct dafs_io *io = &dafs_subreq(subreq)->io;

	dafs_subreq_io_init(subreq);
	io->complete = dafs_read_complete;
	/*
	 * When gaps of a folio are read, one page receives all unwanted parts and is
	 * overwritten several times.  So a checksum over the memory would not match; the
	 * checksum of an inline message does.
	 */
	io->force_inline = subreq->rreq->origin == NETFS_READ_GAPS && io->sbi->params.cksum;
	dafs_io_start(io);
}

/* The server has the data; netfs may drop the folios now. */
static void dafs_written(struct dafs_io *io)
{
	struct inode *inode = &io->di->netfs.inode;

	/* before the size, and before write-back ends: dafs_apply_size() */
	dafs_own_write(io->di);
	spin_lock(&inode->i_lock);
	dafs_remote_size_raise(&io->di->netfs, io->pos + io->len);
	spin_unlock(&inode->i_lock);
}

static void dafs_write_stable(struct dafs_subreq *ds)
{
	struct dafs_io *io = &ds->io;

	if (!ds->extent)
		return;
	if (io->committed >= DAFS_DATA_SYNC) {
		dafs_extent_free(ds->extent);
		return;
	}
	ds->extent->verf = io->verf;
	ds->extent->lost = io->verf_mixed;
	dafs_unstable_add(&io->di->netfs.inode, ds->extent);
}

static void dafs_write_complete(struct dafs_io *io, int err)
{
	struct netfs_io_subrequest *subreq = io->priv;
	struct netfs_io_request *wreq = subreq->rreq;
	struct dafs_subreq *ds = dafs_subreq(subreq);

	if (err) {
		/* its folios are taken for written, but the file has what others wrote */
		if (io->open && READ_ONCE(io->open->breached))
			set_bit(DAFS_INO_ZAP, &io->di->flags);
		/* The library would take -EAGAIN for a request to retry. */
		if (err == -EAGAIN)
			err = -EACCES;
		/* The library does not take the error of a request from its subrequests. */
		cmpxchg(&wreq->error, 0, err);
		dafs_extent_free(ds->extent);
		dafs_netfs_write_done(subreq, err);
		return;
	}
	/* who sees the new size at the server sees what is unstable, dafs_direct_read_waits() */
	dafs_write_stable(ds);
	dafs_written(io);
	dafs_netfs_write_done(subreq, io->len);
}

/* Is this the only subrequest: does it begin with the request and end with the file? */
static bool dafs_write_single(const struct netfs_io_subrequest *subreq)
{
	const struct netfs_io_request *wreq = subreq->rreq;

	return subreq->start - wreq->start < PAGE_SIZE &&
	       subreq->start + subreq->len >= i_size_read(wreq->inode);
}

/*
 * Write stably if no more unstable data may be kept, and if COMMIT would cover only
 * this write: a small file that is closed, or the end of a log that is synced.
 */
static bool dafs_write_stably(const struct netfs_io_subrequest *subreq)
{
	struct dafs_inode *di = DAFS_I(subreq->rreq->inode);

	if (dafs_unstable_full(di))
		return true;
	return atomic_read(&di->flushing) &&
	       !READ_ONCE(di->unstable_bytes) && dafs_write_single(subreq);
}

static void dafs_issue_write(struct netfs_io_subrequest *subreq)
{
	struct dafs_subreq *ds = dafs_subreq(subreq);
	struct dafs_io *io = &ds->io;

	dafs_subreq_io_init(subreq);
	io->write = true;
	io->cached = true;
	io->complete = dafs_write_complete;
	if (!dafs_write_stably(subreq))
		ds->extent = dafs_extent_create(io);
	io->stable = ds->extent ? DAFS_UNSTABLE : DAFS_DATA_SYNC;
	dafs_io_start(io);
}

const struct netfs_request_ops dafs_request_ops = {
	.request_pool		= &dafs_request_pool,
	.subrequest_pool	= &dafs_subreq_pool,
	.init_request		= dafs_init_request,
	.free_request		= dafs_free_request,
	.prepare_read		= dafs_prepare_read,
	.issue_read		= dafs_issue_read,
	.begin_writeback	= dafs_begin_writeback,
	.issue_write		= dafs_issue_write,
};

/*
 * Reading a partly written folio overwrites memory that may be needed for a resend, so
 * that data is committed first.  The folio is unlocked meanwhile: write-back may need
 * it, and a resend waits for write-back.
 */
static int dafs_read_folio(struct file *file, struct folio *folio)
{
	struct inode *inode = folio_inode(folio);
	int err;

	err = folio_wait_writeback_killable(folio);
	if (!err && !dafs_unstable_overlaps(inode, folio_pos(folio), folio_size(folio)))
		return netfs_read_folio(file, folio);
	folio_unlock(folio);
	return err ?: dafs_commit_inode(inode) ?: AOP_TRUNCATED_PAGE;
}

const struct address_space_operations dafs_file_aops = {
	.read_folio		= dafs_read_folio,
	.readahead		= netfs_readahead,
	.dirty_folio		= netfs_dirty_folio,
	.release_folio		= dafs_release_folio,
	.invalidate_folio	= netfs_invalidate_folio,
	.direct_IO		= noop_direct_IO,
	.writepages		= netfs_writepages,
	.migrate_folio		= filemap_migrate_folio,
};

/**
 * dafs_data_init() - create the mempools of requests
 *
 * Memory reclaim depends on write-back, so some requests are reserved.
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_data_init(void)
{
	int err;

	dafs_request_cachep = kmem_cache_create("dafs_request",
						sizeof(struct dafs_request), 0,
						SLAB_HWCACHE_ALIGN, NULL);
	if (!dafs_request_cachep)
		return -ENOMEM;
	err = mempool_init_slab_pool(&dafs_request_pool, DAFS_SUBREQ_RESERVE,
				     dafs_request_cachep);
	if (err)
		goto request_cache;
	dafs_subreq_cachep = kmem_cache_create("dafs_subreq", sizeof(struct dafs_subreq),
					       0, SLAB_HWCACHE_ALIGN, NULL);
	if (!dafs_subreq_cachep) {
		err = -ENOMEM;
		goto request_pool;
	}
	err = mempool_init_slab_pool(&dafs_subreq_pool, DAFS_SUBREQ_RESERVE,
				     dafs_subreq_cachep);
	if (err)
		goto subreq_cache;
	return 0;

subreq_cache:
	kmem_cache_destroy(dafs_subreq_cachep);
request_pool:
	mempool_exit(&dafs_request_pool);
request_cache:
	kmem_cache_destroy(dafs_request_cachep);
	return err;
}

/**
 * dafs_data_exit() - undo dafs_data_init()
 *
 * Context: after rcu_barrier(), because requests are freed after a grace
 * period.
 */
void dafs_data_exit(void)
{
	mempool_exit(&dafs_subreq_pool);
	kmem_cache_destroy(dafs_subreq_cachep);
	mempool_exit(&dafs_request_pool);
	kmem_cache_destroy(dafs_request_cachep);
}
