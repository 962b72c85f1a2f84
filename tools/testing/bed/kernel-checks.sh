# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in a guest after its test: unloads the modules, then asks the kernel's
# own checkers. What they complain of goes to the results as "# kernel: ..."
# lines, which fail the run whatever its tests said. "# checked NAME" says that a
# checker was there and watched to the end: guest.py knows who has to.

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

# What is exported is sound after whatever happened to it.  A suite that broke a disk on
# purpose looks after it itself: that is a mapped device, or ext4 has noticed.
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

# What kmemleak finds unreferenced now; of what was unreferenced before, too.
scan_leaks()
{
	sleep 1
	echo scan 2>/dev/null >$kmemleak &&
		python3 -B "$BED/leaks.py" /run/dafs/kallsyms <$kmemleak
}

# settle_leaks: sets leaks.  One scan proves nothing.  It may report an object whose only
# pointer was just being moved, which the next ones find; and a stale pointer, on a stack
# or in memory that is free again, may hide a leak from it, but hardly from two in a row.
# So two that find nothing acquit.  Without them it is a leak that they came across.
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

# kmemleak reports what has been unreferenced for five seconds, and nothing when it sees
# it for the first time.
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

# Only our modules are watched, so a watchpoint shows that it does.
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

# The last check, because it provokes a report, and lockdep stops after one.
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
