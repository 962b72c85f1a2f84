/* SPDX-License-Identifier: GPL-2.0 */
/* Faults that tests inject into client and server (fs/dafs_common/fault.c). */
#ifndef _LINUX_DAFS_FAULT_H
#define _LINUX_DAFS_FAULT_H

#include <linux/types.h>

/**
 * enum dafs_fault - what goes wrong
 * @DAFS_FAULT_SEND: the connection is lost before a request of the client has been sent
 * @DAFS_FAULT_REGISTER: the client cannot register memory for one
 * @DAFS_FAULT_ARRIVED: the connection is lost when one has come to the server
 * @DAFS_FAULT_DELAY: it is executed late
 * @DAFS_FAULT_EXECUTED: the connection is lost when it has been executed, and not answered
 * @DAFS_FAULT_ANSWERED: the connection is lost when it has been answered
 * @DAFS_NR_FAULTS: number of the above
 */
enum dafs_fault {
	DAFS_FAULT_SEND,
	DAFS_FAULT_REGISTER,
	DAFS_FAULT_ARRIVED,
	DAFS_FAULT_DELAY,
	DAFS_FAULT_EXECUTED,
	DAFS_FAULT_ANSWERED,
	DAFS_NR_FAULTS
};

#ifdef CONFIG_DAFS_FAIL
bool dafs_fault(enum dafs_fault what, u32 proc);
void dafs_fault_delay(u32 proc);
void dafs_fault_once(enum dafs_fault what, u32 proc);
bool dafs_fault_happened(enum dafs_fault what);
void dafs_faults_init(void);
void dafs_faults_exit(void);
#else
static inline bool dafs_fault(enum dafs_fault what, u32 proc)
{
	return false;
}

static inline void dafs_fault_delay(u32 proc)
{
}

static inline void dafs_faults_init(void)
{
}

static inline void dafs_faults_exit(void)
{
}
#endif

#endif /* _LINUX_DAFS_FAULT_H */
