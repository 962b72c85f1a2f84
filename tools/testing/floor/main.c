// SPDX-License-Identifier: GPL-2.0
/*
 * dafs_floor: the speed of the transport, for benchmarks to compare with.
 *
 *	modprobe dafs_floor addr=10.9.0.1
 *	exec 3<>/sys/kernel/debug/dafs_floor/run
 *	echo write 4096 16 1000 >&3	# what, bytes, depth, milliseconds
 *	cat <&3				# operations done, nanoseconds
 *
 * Both ends are this machine, and the data is not checked.  Between two
 * operations there is nothing but the completion that starts the next; only
 * NULL is done by a task that sleeps, as for a system call.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include "floor.h"

static char *addr = "10.9.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "address of this machine's RDMA device (default 10.9.0.1)");

static unsigned short port = 20050;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "port of the DAFS server on this machine (default 20050)");

static struct dentry *floor_dir;

static const char * const floor_names[] = {
	[FLOOR_NULL]		= "null",
	[FLOOR_READ]		= "read",
	[FLOOR_WRITE]		= "write",
	[FLOOR_PINGPONG]	= "pingpong",
};

static int floor_parse(const char *command, struct floor_job *job)
{
	char name[16];
	int op;

	if (sscanf(command, "%15s %u %u %u", name, &job->size, &job->depth, &job->ms) != 4)
		return -EINVAL;
	op = match_string(floor_names, ARRAY_SIZE(floor_names), name);
	if (op < 0)
		return op;
	job->op = op;
	if (!job->size || job->size > FLOOR_MAX_SIZE || !job->depth ||
	    job->depth > FLOOR_MAX_DEPTH || job->ms > FLOOR_MAX_MS)
		return -ERANGE;
	return 0;
}

static int floor_run(struct floor_job *job)
{
	struct sockaddr_storage ss;
	char service[8];
	int err;

	snprintf(service, sizeof(service), "%u", job->op == FLOOR_NULL ? port : 0);
	err = inet_pton_with_scope(&init_net, AF_UNSPEC, addr, service, &ss);
	if (err)
		return err;
	return job->op == FLOOR_NULL ? floor_null_run(job, (struct sockaddr *)&ss) :
				       floor_verbs_run(job, (struct sockaddr *)&ss);
}

/* Executes a command; the caller reads the result afterwards. */
static ssize_t floor_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	struct floor_job job = {};
	char *text;
	int err;

	text = simple_transaction_get(file, buf, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = floor_parse(text, &job);
	if (!err)
		err = floor_run(&job);
	if (err)
		return err;
	simple_transaction_set(file, scnprintf(text, SIMPLE_TRANSACTION_LIMIT, "%llu %lld\n",
					       job.done, job.ns));
	return size;
}

static const struct file_operations floor_fops = {
	.owner		= THIS_MODULE,
	.write		= floor_write,
	.read		= simple_transaction_read,
	.release	= simple_transaction_release,
	.llseek		= default_llseek,
};

static int __init floor_init(void)
{
	floor_dir = debugfs_create_dir("dafs_floor", NULL);
	debugfs_create_file("run", 0600, floor_dir, NULL, &floor_fops);
	return 0;
}

static void __exit floor_exit(void)
{
	debugfs_remove(floor_dir);
}

module_init(floor_init);
module_exit(floor_exit);

MODULE_DESCRIPTION("What the transport of DAFS can do");
MODULE_LICENSE("GPL");
