// SPDX-License-Identifier: GPL-2.0
/* The pauses between attempts to connect. */
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include "rpc_impl.h"

#define DAFS_BACKOFF_LONGEST_MS	(3600 * MSEC_PER_SEC)

static int dafs_backoff_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, DAFS_BACKOFF_LONGEST_MS);
}

static const struct kernel_param_ops dafs_backoff_ops = {
	.set = dafs_backoff_set,
	.get = param_get_uint,
};

unsigned int dafs_reconnect_min_delay_ms = 500;
module_param_cb(reconnect_min_delay_ms, &dafs_backoff_ops, &dafs_reconnect_min_delay_ms, 0644);
MODULE_PARM_DESC(reconnect_min_delay_ms,
		 "Shortest pause between attempts to connect, in ms, of which up to half is left out at random; default 500");

unsigned int dafs_reconnect_max_delay_ms = 10000;
module_param_cb(reconnect_max_delay_ms, &dafs_backoff_ops, &dafs_reconnect_max_delay_ms, 0644);
MODULE_PARM_DESC(reconnect_max_delay_ms,
		 "Longest pause between attempts to connect, likewise; default 10000");

/**
 * dafs_backoff() - how long to wait before the next attempt to connect
 * @lease_s: time of a lease of the server, in seconds
 * @attempt: 0 for the shortest pause; each one above is twice as long
 *
 * With jitter, so that clients spread out.  A server that has
 * restarted waits for its clients as long as a lease (4.4.1.2): there are several attempts in
 * that time, or what a client had would be lost.
 *
 * Context: any.
 * Return: in jiffies.
 */
unsigned long dafs_backoff(unsigned int lease_s, unsigned int attempt)
{
	u64 least = READ_ONCE(dafs_reconnect_min_delay_ms);
	u64 most = min_t(u64, READ_ONCE(dafs_reconnect_max_delay_ms),
			 (u64)lease_s * (MSEC_PER_SEC / 4));
	unsigned int ms = min(least << min(attempt, 12U), max(least, most));

	return msecs_to_jiffies(ms / 2 + get_random_u32_below(ms / 2 + 1));
}
