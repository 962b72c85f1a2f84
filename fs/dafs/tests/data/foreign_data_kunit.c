// SPDX-License-Identifier: GPL-2.0
/* Direct writes and appends at a server that delays COMMIT or refuses. */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/highmem.h>
#include <linux/mman.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include "../lib/foreign.h"

static int foreign_write_direct(struct foreign_task *ft)
{
	loff_t pos = FOREIGN_DIRECT;

	return kernel_write(ft->file, "direct", 6, &pos);
}

static int foreign_append_some(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "more", 4, &pos);
}

/*
 * Data stored while a direct write waits for COMMIT is stable before the write is
 * sent.  Otherwise it would overwrite the direct write when it is sent again after a
 * server restart.
 */
static void dafs_foreign_direct_commits_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, direct, 0, 's');
	f->keeps = DAFS_PROC_COMMIT;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, direct, PAGE_SIZE, 's');
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	get_random_bytes(&f->verifier, sizeof(f->verifier));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(direct, 0));
	KUNIT_EXPECT_EQ(test, 's', f->data[0]);
	KUNIT_EXPECT_EQ(test, 's', f->data[PAGE_SIZE]);
	KUNIT_EXPECT_MEMEQ(test, "direct", f->data + FOREIGN_DIRECT, 6);
	__fput_sync(direct);
}

/* Folios that are not stable when a direct write ends are dropped soon afterwards. */
static void dafs_foreign_direct_drops_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	loff_t pos = FOREIGN_DIRECT;
	struct foreign_task *ft;
	char before[6], got[6];

	memcpy(before, f->data + pos, sizeof(before));
	f->unstable = true;
	f->keeps = DAFS_PROC_WRITE_INLINE;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* as if the server executed the direct write after the store below */
	memcpy(f->data + pos, before, sizeof(before));
	foreign_store(test, file, PAGE_SIZE, 's');
	memcpy(f->data + pos, "direct", sizeof(got));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	KUNIT_EXPECT_EQ(test, 6, kernel_read(file, got, sizeof(got), &pos));
	KUNIT_EXPECT_MEMEQ(test, "direct", got, sizeof(got));
	__fput_sync(file);
	__fput_sync(direct);
}

/* A task that is killed after an append does not leave the old end of the file cached. */
static void dafs_foreign_append_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *log = foreign_file(test, mnt, "file", O_RDWR | O_APPEND);
	loff_t pos = FOREIGN_SIZE - 1;
	struct foreign_task *ft;
	char got;

	f->unstable = true;
	f->keeps = DAFS_PROC_APPEND_INLINE;
	ft = foreign_task(f, mnt, log, foreign_append_some);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, log, pos, 's');
	f->keeps = DAFS_PROC_COMMIT;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	foreign_release(f);
	f->data[pos] = 't';
	KUNIT_EXPECT_EQ(test, 1, kernel_read(log, &got, 1, &pos));
	KUNIT_EXPECT_EQ(test, 't', got);
	__fput_sync(log);
}

static int foreign_write_ten(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "0123456789", 10, &pos);
}

/* Byte 100 of what is mapped */
static int foreign_store_mapped(struct foreign_task *ft)
{
	struct mm_struct *mm = ft->f->mm;
	struct page *page;
	long nr;

	mmap_read_lock(mm);
	nr = get_user_pages_remote(mm, ft->f->user, 1, FOLL_WRITE, &page, NULL);
	mmap_read_unlock(mm);
	if (nr != 1)
		return nr ?: -EFAULT;
	memcpy_to_page(page, 100, "m", 1);
	set_page_dirty_lock(page);
	put_page(page);
	return 0;
}

static void foreign_map(struct kunit *test, struct foreign *f, struct file *file)
{
	f->user = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	KUNIT_ASSERT_NE(test, 0, f->user);
	f->mm = current->mm;
}

/* kunit_vm_mmap() has attached the memory, and detaches it only when the task ends */
static void foreign_unmap(struct foreign *f)
{
	vm_munmap(f->user, PAGE_SIZE);
	kthread_unuse_mm(f->mm);
	mmput(f->mm);
}

/*
 * A program writes bytes that it has locked, and another one stores to the same folio through a
 * mapping: what is written back after the write does not have older bytes than that.
 */
static void dafs_foreign_exact_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *writer, *storer;
	u8 before[10];

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_bytes(file, F_WRLCK, 0, 9));
	foreign_map(test, f, file);
	memcpy(before, f->data, sizeof(before));
	f->keeps = DAFS_PROC_WRITE_INLINE;
	writer = foreign_task(f, mnt, file, foreign_write_ten);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* as if the server executed it after what the other program reads */
	memcpy(f->data, before, sizeof(before));
	storer = foreign_task(f, mnt, file, foreign_store_mapped);
	/* if it does not wait it has stored by then */
	msleep(200);
	memcpy(f->data, "0123456789", 10);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(writer));
	KUNIT_EXPECT_EQ(test, 10, writer->err);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(storer));
	KUNIT_EXPECT_EQ(test, 0, storer->err);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", f->data, 10);
	KUNIT_EXPECT_EQ(test, 'm', f->data[100]);
	foreign_unmap(f);
	__fput_sync(file);
}

/* The memory of the write is the page that it overwrites. */
static int foreign_write_itself(struct foreign_task *ft)
{
	struct iov_iter iter;
	struct kiocb iocb;
	int ret;

	kthread_use_mm(ft->f->mm);
	init_sync_kiocb(&iocb, ft->file);
	iov_iter_ubuf(&iter, ITER_SOURCE, (void __user *)ft->f->user + 20, 10);
	ret = ft->file->f_op->write_iter(&iocb, &iter);
	kthread_unuse_mm(ft->f->mm);
	return ret;
}

static void dafs_foreign_exact_itself_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_bytes(file, F_WRLCK, 0, 9));
	foreign_map(test, f, file);
	ft = foreign_task(f, mnt, file, foreign_write_itself);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 10, ft->err);
	KUNIT_EXPECT_MEMEQ(test, f->data + 20, f->data, 10);
	foreign_unmap(f);
	__fput_sync(file);
}

static struct kunit_case dafs_foreign_data_cases[] = {
	KUNIT_CASE(dafs_foreign_direct_commits_test),
	KUNIT_CASE(dafs_foreign_direct_drops_test),
	KUNIT_CASE(dafs_foreign_append_killed_test),
	KUNIT_CASE(dafs_foreign_exact_test),
	KUNIT_CASE(dafs_foreign_exact_itself_test),
	{}
};

static struct kunit_suite dafs_foreign_data_suite = {
	.name = "dafs_foreign_data",
	.test_cases = dafs_foreign_data_cases,
};

kunit_test_suite(dafs_foreign_data_suite);
