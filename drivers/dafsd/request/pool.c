// SPDX-License-Identifier: GPL-2.0
/*
 * Pages for bulk data and areas for listings, kept for the next request.
 *
 * A write of 1 MiB needs as much memory for the time between the arrival of the
 * data and its copy into the page cache.  To have it from the page allocator, which
 * as a rule clears it, and to give it back takes a tenth of the instructions of the
 * whole request.  So some chunks are kept, for all sessions together; what one
 * client's data was in is overwritten before it is sent to another.  The same
 * goes for the memory in which the entries of a READDIR are collected, which is
 * not sent at all.  When memory is short the chunks are given back.
 */
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "io.h"

#define DAFSD_CHUNK_ORDER	get_order(SZ_64K)

/* Kept for each processor, of which at most 16 count: two requests' worth */
#define DAFSD_POOL_CHUNKS	(2 * SZ_1M / SZ_64K)

/**
 * struct dafsd_pool - chunks that are not in use
 * @lock: guards what follows
 * @free: they, by their first pages
 * @nr: how many
 */
static struct dafsd_pool {
	spinlock_t lock;	/* see above */
	struct list_head free;
	unsigned int nr;
} dafsd_pool = {
	.lock = __SPIN_LOCK_UNLOCKED(dafsd_pool.lock),
	.free = LIST_HEAD_INIT(dafsd_pool.free),
};

static struct page *dafsd_pool_take(void)
{
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&dafsd_pool.lock, flags);
	page = list_first_entry_or_null(&dafsd_pool.free, struct page, lru);
	if (page) {
		list_del(&page->lru);
		dafsd_pool.nr--;
	}
	spin_unlock_irqrestore(&dafsd_pool.lock, flags);
	return page;
}

static bool dafsd_pool_keep(struct page *page)
{
	unsigned int most = min(num_online_cpus(), 16U) * DAFSD_POOL_CHUNKS;
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&dafsd_pool.lock, flags);
	keep = dafsd_pool.nr < most;
	if (keep) {
		list_add(&page->lru, &dafsd_pool.free);
		dafsd_pool.nr++;
	}
	spin_unlock_irqrestore(&dafsd_pool.lock, flags);
	return keep;
}

/**
 * dafsd_chunks_size() - how much memory bulk data is given at most
 * @want: bytes of it
 *
 * Return: bytes of whole chunks.
 */
size_t dafsd_chunks_size(u32 want)
{
	return round_up((size_t)want, PAGE_SIZE << DAFSD_CHUNK_ORDER);
}

/**
 * dafsd_chunk_alloc() - memory for bulk data, in one piece
 * @want: bytes, more than 0
 * @bytes: set to how many there are, at most @want
 *
 * Whole chunks are allocated if that is easy, since those can be kept.
 *
 * Context: may sleep.
 * Return: the first page, to be given back by dafsd_chunk_free(), or NULL.
 */
struct page *dafsd_chunk_alloc(u32 want, unsigned int *bytes)
{
	struct page *page = dafsd_pool_take();

	if (!page)
		page = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY,
				   DAFSD_CHUNK_ORDER);
	if (!page)
		page = alloc_page(GFP_KERNEL);
	if (page)
		*bytes = min_t(u32, want, page_size(page));
	return page;
}

/**
 * dafsd_chunk_free() - give memory for bulk data back
 * @page: its first page; the caller's reference goes
 *
 * Context: any.
 */
void dafsd_chunk_free(struct page *page)
{
	/* not kept while others hold references on the page */
	if (compound_order(page) != DAFSD_CHUNK_ORDER || page_count(page) != 1 ||
	    !dafsd_pool_keep(page))
		put_page(page);
}

/* Areas kept: one for each processor, of which at most so many count */
#define DAFSD_POOL_AREAS	16U

/**
 * struct dafsd_area - memory to collect something in
 * @size: bytes of @data
 * @data: handed out
 */
struct dafsd_area {
	size_t size;
	u8 data[] __aligned(sizeof(u64));
};

/**
 * struct dafsd_areas - areas that are not in use
 * @lock: guards what follows
 * @nr: how many
 * @free: they
 */
static struct dafsd_areas {
	spinlock_t lock;	/* see above */
	unsigned int nr;
	struct dafsd_area *free[DAFSD_POOL_AREAS];
} dafsd_areas = {
	.lock = __SPIN_LOCK_UNLOCKED(dafsd_areas.lock),
};

static struct dafsd_area *dafsd_area_take(void)
{
	struct dafsd_area *area = NULL;
	unsigned long flags;

	spin_lock_irqsave(&dafsd_areas.lock, flags);
	if (dafsd_areas.nr)
		area = dafsd_areas.free[--dafsd_areas.nr];
	spin_unlock_irqrestore(&dafsd_areas.lock, flags);
	return area;
}

static bool dafsd_area_keep(struct dafsd_area *area)
{
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&dafsd_areas.lock, flags);
	keep = dafsd_areas.nr < min(num_online_cpus(), DAFSD_POOL_AREAS);
	if (keep)
		dafsd_areas.free[dafsd_areas.nr++] = area;
	spin_unlock_irqrestore(&dafsd_areas.lock, flags);
	return keep;
}

/**
 * dafsd_area_alloc() - memory to collect something in
 * @size: bytes, at most DAFSD_AREA_MAX
 *
 * One that is kept and too small makes place for a larger one.
 *
 * Context: may sleep.
 * Return: memory that holds anything, to be given back by dafsd_area_free(), or
 * NULL.
 */
void *dafsd_area_alloc(size_t size)
{
	struct dafsd_area *area = dafsd_area_take();

	if (area && area->size >= size)
		return area->data;
	kvfree(area);
	if (WARN_ON_ONCE(size > DAFSD_AREA_MAX))
		return NULL;
	area = kvmalloc(struct_size(area, data, size), GFP_KERNEL);
	if (!area)
		return NULL;
	area->size = size;
	return area->data;
}

/**
 * dafsd_area_free() - give memory to collect something in back
 * @data: from dafsd_area_alloc(), or NULL
 *
 * Context: any.
 */
void dafsd_area_free(void *data)
{
	struct dafsd_area *area;

	if (!data)
		return;
	area = container_of(data, struct dafsd_area, data[0]);
	if (!dafsd_area_keep(area))
		kvfree(area);
}

static unsigned long dafsd_pool_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long pages = (unsigned long)READ_ONCE(dafsd_pool.nr) << DAFSD_CHUNK_ORDER;

	return pages ?: SHRINK_EMPTY;
}

static unsigned long dafsd_pool_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed = 0;
	struct page *page;

	while (freed < sc->nr_to_scan && (page = dafsd_pool_take())) {
		put_page(page);
		freed += 1UL << DAFSD_CHUNK_ORDER;
	}
	return freed ?: SHRINK_STOP;
}

static struct shrinker *dafsd_pool_shrinker;

/**
 * dafsd_pool_init() - get ready to keep memory
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int __init dafsd_pool_init(void)
{
	dafsd_pool_shrinker = shrinker_alloc(0, "dafsd-pool");
	if (!dafsd_pool_shrinker)
		return -ENOMEM;
	dafsd_pool_shrinker->count_objects = dafsd_pool_count;
	dafsd_pool_shrinker->scan_objects = dafsd_pool_scan;
	shrinker_register(dafsd_pool_shrinker);
	return 0;
}

/**
 * dafsd_pool_exit() - free what was kept
 *
 * Context: may sleep; no request is left.
 */
void dafsd_pool_exit(void)
{
	struct dafsd_area *area;
	struct page *page;

	shrinker_free(dafsd_pool_shrinker);
	while ((page = dafsd_pool_take()))
		put_page(page);
	while ((area = dafsd_area_take()))
		kvfree(area);
}
