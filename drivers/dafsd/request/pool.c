// SPDX-License-Identifier: GPL-2.0
/*
 * Pages for bulk data and areas for listings, kept for the next request.
 *
 * A write of 1 MiB needs 1 MiB of memory from the arrival of the data until it is copied
 * into the page cache.  Allocating it from the page allocator, which usually clears it,
 * and freeing it takes a tenth of the instructions of the whole request.  So some chunks
 * are kept, in one pool for all sessions.  A chunk that held the data of one client is
 * overwritten before it is sent to another client.  The memory in which the entries of a
 * READDIR are collected is kept as well; it is never sent.  When memory is short, a
 * shrinker frees the chunks.
 */
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "io.h"

#define DAFSD_CHUNK_ORDER	get_order(SZ_64K)

/* Chunks kept for each CPU, for at most 16 CPUs: enough for two requests of 1 MiB */
#define DAFSD_POOL_CHUNKS	(2 * SZ_1M / SZ_64K)

/**
 * struct dafsd_pool - chunks that are not in use
 * @lock: protects the members below
 * @free: the first page of each chunk
 * @nr: number of chunks
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
 * dafsd_chunks_size() - upper limit of the memory allocated for bulk data
 * @want: bytes of bulk data
 *
 * Return: @want, rounded up to whole chunks.
 */
size_t dafsd_chunks_size(u32 want)
{
	return round_up((size_t)want, PAGE_SIZE << DAFSD_CHUNK_ORDER);
}

/**
 * dafsd_chunk_alloc() - allocate contiguous memory for bulk data
 * @want: bytes, more than 0
 * @bytes: set to the number of bytes allocated, at most @want
 *
 * A whole chunk is allocated if that is possible without much effort, since only whole
 * chunks can be kept in the pool; otherwise a single page.
 *
 * Context: may sleep.
 * Return: the first page, to be freed with dafsd_chunk_free(), or NULL.
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
 * dafsd_chunk_free() - free memory for bulk data
 * @page: its first page; the caller's reference is dropped
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

/* Upper limit of the areas kept; one is kept for each CPU */
#define DAFSD_POOL_AREAS	16U

/**
 * struct dafsd_area - scratch memory of a request
 * @size: bytes of @data
 * @data: the memory that dafsd_area_alloc() returns
 */
struct dafsd_area {
	size_t size;
	u8 data[] __aligned(sizeof(u64));
};

/**
 * struct dafsd_areas - areas that are not in use
 * @lock: protects the members below
 * @nr: number of areas in @free
 * @free: the areas
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
 * dafsd_area_alloc() - allocate scratch memory for a request
 * @size: bytes, at most DAFSD_AREA_MAX
 *
 * If the area taken from the pool is too small, it is freed and replaced by a larger one.
 *
 * Context: may sleep.
 * Return: uninitialized memory, to be freed with dafsd_area_free(), or NULL.
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
 * dafsd_area_free() - free the scratch memory of a request
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
 * dafsd_pool_init() - register the shrinker of the pool
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
 * dafsd_pool_exit() - free all memory in the pools
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
