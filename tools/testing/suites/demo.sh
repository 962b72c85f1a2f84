# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The main job on the stock kernel: a source tree, large files and fio.
# bed: qemu
# timeout: 1200
#
# Lines that start with "demo: " are for the reader of tools/testing/demo.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

MNT=/mnt/dafs
SRV=/srv/data
TABLE=/run/dafs/table
HEADERS=/usr/src/linux-headers-$(uname -r | sed 's/amd64$/common/')
MEGABYTES=64

say()
{
	echo "demo: $*"
}

now()
{
	date +%s%N
}

# step NAME AMOUNT UNIT COMMAND...: runs, times and reports one step; with an
# AMOUNT other than 0, also the rate.
step()
{
	step_name=$1 amount=$2 unit=$3
	shift 3
	begin=$(now)
	verdict=ok
	tap_run "$step_name" "$@" || verdict=FAILED
	awk -v ns=$(($(now) - begin)) -v amount="$amount" -v unit="$unit" \
		-v name="$step_name" -v verdict=$verdict 'BEGIN {
			rate = amount ? sprintf("%.0f %s/s", 1e9 * amount / ns,
						unit) : ""
			printf "%-42s %8.2f s  %14s  %s\n", name, ns / 1e9,
				rate, verdict
		}' | tee -a $TABLE | sed 's/^/demo: /'
}

digests()
{
	(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

same_tree()
{
	digests "$1" | cmp - "$2"
}

count_files()
{
	[ "$(find "$1" -type f -ls | wc -l)" = "$2" ]
}

append_lines()
{
	for i in $(seq 100); do
		echo "line $i" >>$MNT/log || return
	done
	[ "$(wc -l <$MNT/log)" = 100 ] && [ "$(tail -n 1 $MNT/log)" = "line 100" ]
}

rename_files()
{
	mkdir $MNT/renamed || return
	for file in "$MNT"/tree/include/rdma/*.h; do
		mv "$file" $MNT/renamed/ || return
	done
	mv $MNT/renamed $MNT/tree/include/rdma/headers
}

delete_files()
{
	rm -r $MNT/tree/include/uapi && [ ! -e $MNT/tree/include/uapi ]
}

copy_direct()
{
	dd if=/tmp/large of=$MNT/direct bs=1M oflag=direct
}

read_direct()
{
	dd if=$MNT/direct bs=1M iflag=direct | cmp - /tmp/large
}

copy_cached()
{
	cp /tmp/large $MNT/cached && sync $MNT/cached
}

read_cached()
{
	echo 3 >/proc/sys/vm/drop_caches
	cmp $MNT/cached /tmp/large
}

verify_with_fio()
{
	fio --name="$1" --directory=$MNT --rw=randwrite --size=16m \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 \
		--fallocate=none --end_fsync=1 "--direct=$2" "--bs=$3" \
		--ioengine="$4" --iodepth=8
}

start_server()
{
	modprobe dafsd exports=$SRV:no_root_squash
}

mount_export()
{
	mkdir -p $MNT
	mount -t dafs $ADDR4:/data $MNT
}

same_on_server()
{
	cmp $SRV/cached /tmp/large && cmp $SRV/direct /tmp/large &&
		same_tree $SRV/tree /tmp/tree.after
}

check_disk()
{
	umount $SRV && e2fsck -f -n /dev/ram0
}

started=$(now)
say "Linux $(uname -r), $(nproc) processors"
step "soft-RoCE device on $ADDR4" 0 "" setup_rxe
step "new ext4 on a RAM disk" 0 "" make_backing $SRV 512
step "modprobe dafsd exports=$SRV:..." 0 "" start_server
step "mount -t dafs $ADDR4:/data $MNT" 0 "" mount_export
mountpoint -q $MNT || tap_bail "not mounted"

# The sources: a part of the kernel's headers, copied before the measurement.
mkdir -p /tmp/orig $MNT/tree
tar -C "$HEADERS" -cf /tmp/tree.tar include/net include/rdma include/uapi
tar -C /tmp/orig -xf /tmp/tree.tar
digests /tmp/orig >/tmp/tree.sums
files=$(wc -l </tmp/tree.sums)
dd if=/dev/urandom of=/tmp/large bs=1M count=$MEGABYTES 2>/dev/null

step "unpack $files files" "$files" files tar -C $MNT/tree -xf /tmp/tree.tar
step "list them" "$files" files count_files $MNT/tree "$files"
step "checksum them" "$files" files same_tree $MNT/tree /tmp/tree.sums
step "append 100 lines" 100 lines append_lines
step "rename files and a folder" 0 "" rename_files
step "delete a folder of files" 0 "" delete_files
step "copy in $MEGABYTES MiB with O_DIRECT" $MEGABYTES MiB copy_direct
step "compare it, read with O_DIRECT" $MEGABYTES MiB read_direct
step "copy in $MEGABYTES MiB through the cache" $MEGABYTES MiB copy_cached
step "compare it, caches dropped" $MEGABYTES MiB read_cached
step "fio with verify, cached" 0 "" verify_with_fio cached-io 0 4k psync
step "fio with verify, O_DIRECT" 0 "" verify_with_fio direct-io 1 64k libaio
digests $MNT/tree >/tmp/tree.after
step "umount" 0 "" umount $MNT
step "the server's own files are the same" 0 "" same_on_server
step "unload the modules" 0 "" unload_modules
step "fsck of the export" 0 "" check_disk

say
say "summary                                        time            rate"
grep '/s  ' $TABLE | sed 's/^/demo: /'
say "$TAP_COUNT steps, $TAP_FAILED failed, $((($(now) - started) / 1000000000)) s"
tap_done
