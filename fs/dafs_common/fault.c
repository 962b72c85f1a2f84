// SPDX-License-Identifier: GPL-2.0
/*
 * Faults that tests inject, by the kernel's framework for that: /sys/kernel/debug/fail_dafs has a
 * folder for each, with probability, times, interval and the rest of what is described in
 * Documentation/fault-injection, and the file "procedure" for the number of the only procedure that
 * it is for, or 0.
 */
#include <linux/dafs/fault.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/fault-inject.h>
#include <linux/random.h>

#define DAFS_FAULT_DELAY_MS	500U

/**
 * struct dafs_fault_point - a fault that can be injected
 * @attr: when it happens
 * @procedure: the only one that it is for, or 0
 */
struct dafs_fault_point {
	struct fault_attr attr;
	u32 procedure;
};

#define DAFS_FAULT_POINT { .attr = FAULT_ATTR_INITIALIZER }

static struct dafs_fault_point dafs_faults[] = {
	[0 ... DAFS_NR_FAULTS - 1] = DAFS_FAULT_POINT,
};

static const char * const dafs_fault_names[] = {
	[DAFS_FAULT_SEND] = "send",
	[DAFS_FAULT_REGISTER] = "register",
	[DAFS_FAULT_ARRIVED] = "arrived",
	[DAFS_FAULT_DELAY] = "delay",
	[DAFS_FAULT_EXECUTED] = "executed",
	[DAFS_FAULT_ANSWERED] = "answered",
};

static struct dentry *dafs_fault_dir;

/**
 * dafs_fault() - does it go wrong?
 * @what: what would
 * @proc: DAFS_PROC_* of the request
 *
 * What a task has asked for by its fail-nth is for allocations, not for these unless one is set.
 *
 * Context: any.
 * Return: true if the caller is to make it so.
 */
bool dafs_fault(enum dafs_fault what, u32 proc)
{
	struct dafs_fault_point *point = &dafs_faults[what];
	u32 only = READ_ONCE(point->procedure);

	return READ_ONCE(point->attr.probability) && (!only || only == proc) &&
	       should_fail(&point->attr, 1);
}
EXPORT_SYMBOL_GPL(dafs_fault);

/**
 * dafs_fault_delay() - a request may be executed late
 * @proc: DAFS_PROC_* of it
 *
 * Context: may sleep.
 */
void dafs_fault_delay(u32 proc)
{
	if (dafs_fault(DAFS_FAULT_DELAY, proc))
		msleep(get_random_u32_below(DAFS_FAULT_DELAY_MS));
}
EXPORT_SYMBOL_GPL(dafs_fault_delay);

/**
 * dafs_fault_once() - something goes wrong the next time (for tests)
 * @what: what
 * @proc: DAFS_PROC_* of the only procedure that it is for, or 0
 *
 * Context: any.
 */
void dafs_fault_once(enum dafs_fault what, u32 proc)
{
	struct dafs_fault_point *point = &dafs_faults[what];

	point->procedure = proc;
	point->attr.verbose = 0;
	point->attr.interval = 1;
	atomic_set(&point->attr.times, 1);
	point->attr.probability = 100;
}
EXPORT_SYMBOL_GPL(dafs_fault_once);

/**
 * dafs_fault_happened() - has it gone wrong since dafs_fault_once()?
 * @what: what; it does not from now on
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_fault_happened(enum dafs_fault what)
{
	struct fault_attr *attr = &dafs_faults[what].attr;

	attr->probability = 0;
	return !atomic_read(&attr->times);
}
EXPORT_SYMBOL_GPL(dafs_fault_happened);

/**
 * dafs_faults_init() - make the folders; without them nothing else is amiss
 */
void __init dafs_faults_init(void)
{
	struct dentry *dir;
	unsigned int i;

	dafs_fault_dir = debugfs_create_dir("fail_dafs", NULL);
	for (i = 0; i < DAFS_NR_FAULTS; i++) {
		dir = fault_create_debugfs_attr(dafs_fault_names[i], dafs_fault_dir,
						&dafs_faults[i].attr);
		if (!IS_ERR(dir))
			debugfs_create_u32("procedure", 0600, dir, &dafs_faults[i].procedure);
	}
}

/**
 * dafs_faults_exit() - undo dafs_faults_init()
 */
void dafs_faults_exit(void)
{
	debugfs_remove(dafs_fault_dir);
}
