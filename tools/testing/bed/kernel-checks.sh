# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in a guest after its test: unloads the modules, then reads the reports of
# the kernel's checkers.  Complaints are added to the results as "# kernel: ..."
# lines, which fail the run even if its tests passed.  "# checked NAME" means
# that a checker was active to the end: CHECKERS in guest.py lists the required
# ones.

complain()
{
	echo "# kernel: $*" >>"$RESULTS"
	echo "# kernel: $*"
}

checked()
{
	echo "# checked $1" >>"$RESULTS"
}

loaded()
{
	[ -d "/sys/module/$1" ]
}

unmount_all()
{
	awk '$3 == "dafs" { print $2 }' /proc/mounts | while read -r dir; do
		complain "$dir was left mounted"
		umount "$dir"
	done
}

unload_all()
{
	grep '\[dafs' /proc/kallsyms >/run/dafs/kallsyms
	for module in dafs_kunit dafs_common_kunit dafs dafsd dafs_common; do
		loaded $module || continue
		rmmod $module
		! loaded $module || complain "module $module does not unload"
	done
}

# Exported file systems must be consistent.  Not checked are mapped devices and file
# systems with errors known to ext4: their suite has broken the disk on purpose.
check_exports()
{
	awk '$1 ~ /^\/dev\/ram[0-9]+$/ && $3 == "ext4" { print $2, $1 }' /proc/mounts |
		sort -r >/run/dafs/exports
	while read -r dir _; do
		umount "$dir" || complain "$dir is busy: something still refers to it"
	done </run/dafs/exports
	for disk in $(sed 's/.* //' /run/dafs/exports | sort -u); do
		! grep -q "^$disk " /proc/mounts || continue
		! dumpe2fs -h "$disk" 2>/dev/null | grep -q '^Filesystem state:.*errors' || continue
		e2fsck -f -n "$disk" || complain "the file system of $disk is damaged"
	done
}

# Prints what kmemleak finds unreferenced in this scan, old reports included.
scan_leaks()
{
	sleep 1
	echo scan 2>/dev/null >$kmemleak &&
		python3 -B "$BED/leaks.py" /run/dafs/kallsyms <$kmemleak
}

# settle_leaks: sets leaks.  One scan is not enough: it may report an object whose only
# pointer was just being moved, and a stale pointer on a stack or in free memory may hide
# a leak from it, but rarely from two in a row.  So there is no leak if two scans in a
# row find nothing.
settle_leaks()
{
	leaks=
	silent=0
	for _ in 1 2 3 4 5 6; do
		found=$(scan_leaks) || {
			complain "kmemleak turned itself off, or cannot be read"
			return
		}
		silent=$((silent + 1))
		[ -z "$found" ] || {
			leaks=$found
			silent=0
		}
		[ $silent -lt 2 ] || {
			leaks=
			return
		}
	done
}

# kmemleak reports objects that have been unreferenced for five seconds, but not in the
# scan that first finds them.
check_leaks()
{
	kmemleak=/sys/kernel/debug/kmemleak
	[ -w $kmemleak ] || return
	sleep 5
	scan_leaks >/dev/null
	settle_leaks
	checked kmemleak
	[ -n "$leaks" ] || return
	echo "$leaks"
	complain "$(echo "$leaks" | grep -c '^unreferenced') objects leaked"
}

check_lockdep()
{
	[ -r /proc/lockdep_stats ] || return
	checked lockdep
	grep -q 'debug_locks: *1' /proc/lockdep_stats ||
		complain "lockdep turned itself off"
}

# Only our modules are instrumented, so a watchpoint shows that KCSAN is active.
check_kcsan()
{
	[ -r /sys/kernel/debug/kcsan ] || return
	checked KCSAN
	cat /sys/kernel/debug/kcsan
	grep -q 'enabled: *1' /sys/kernel/debug/kcsan ||
		complain "KCSAN turned itself off"
	grep -q 'setup_watchpoints: *[1-9]' /sys/kernel/debug/kcsan ||
		complain "KCSAN watched nothing"
}

check_kfence()
{
	[ -r /sys/kernel/debug/kfence/stats ] || return
	checked KFENCE
	cat /sys/kernel/debug/kfence/stats
	grep -q 'enabled: *1' /sys/kernel/debug/kfence/stats ||
		complain "KFENCE turned itself off"
}

# The last check, because it provokes a report, and lockdep turns off after one.
check_kasan()
{
	modinfo kasan_test >/dev/null 2>&1 || return
	printf kasan.kmalloc_oob_right \
		>/sys/module/kunit/parameters/filter_glob
	modprobe kasan_test
	checked KASAN
	grep -q '^ok .* kasan$' /sys/kernel/debug/kunit/kasan/results ||
		complain "KASAN is silent"
}

unmount_all
unload_all
check_exports
check_leaks
check_lockdep
check_kcsan
check_kfence
echo "# the tests are over"
check_kasan
