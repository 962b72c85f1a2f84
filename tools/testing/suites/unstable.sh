# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Written data that the server has not promised to keep: counted, bounded however
# slow the server commits, and committed by syncfs(2) to the end.
# bed: um
# memory: 1G
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
# Flushes of the server's disk take as many milliseconds as slow_flush says.
modprobe -q brd rd_nr=4 rd_size=1048576
mkdir -p /srv/data
slow_flush()
{
	table="0 2097152 delay /dev/ram0 0 0 /dev/ram0 0 0 /dev/ram0 0 $1"
	if [ -e /dev/mapper/slow ]; then
		dmsetup suspend --nolockfs slow && dmsetup reload slow --table "$table" &&
			dmsetup resume slow
	else
		dmsetup create slow --table "$table"
	fi
}
slow_flush 0 && mkfs.ext4 -q -F -I 256 /dev/mapper/slow 400M &&
	mount -t ext4 /dev/mapper/slow /srv/data || tap_bail "no ext4 for the exports"
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs || tap_bail "no mount"

# What a mount has under write-back, in KiB, what is not committed included
under_writeback()
{
	sed -n 's/^BdiWriteback: *\([0-9]*\) kB/\1/p' /sys/kernel/debug/bdi/dafs-*/stats
}

# Memory pressure commits; so do syncfs(2) and fsync(2), all of them to the end.
cat >/tmp/unstable.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
# less than what a mount of this machine begins to commit at
FILES, SIZE = 20, 300000
def under_writeback():
    with open([f"/sys/kernel/debug/bdi/{d}/stats" for d in os.listdir("/sys/kernel/debug/bdi")
               if d.startswith("dafs-")][0]) as stats:
        return [int(line.split()[1]) for line in stats if line.startswith("BdiWriteback")][0]
def write(fds):
    for fd in fds:
        for at in 0, 1000000:
            os.pwrite(fd, os.urandom(SIZE), at)
        # written, and not committed
        libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 7)
fds = [os.open(f"/mnt/dafs/file{i}", os.O_RDWR | os.O_CREAT) for i in range(FILES)]
write(fds)
counted = under_writeback()
os.fsync(fds[0])
print("counted" if counted >= FILES * 2 * SIZE // 1024 else f"{counted} KiB",
      "less" if under_writeback() < counted else "not less")
left = []
for _ in range(4):
    write(fds)
    for child in range(3):
        if not os.fork():
            libc.syncfs(fds[0])
            os._exit(1 if under_writeback() else 0)
    left += [os.wait()[1] >> 8 for child in range(3)]
print("all" if not any(left) else f"{sum(left)} of {len(left)} too early")
write(fds)
sys.stdout.flush()
open("/tmp/written", "w").close()
while not os.path.exists("/tmp/enough"):
    os.sched_yield()
END
python3 /tmp/unstable.py >/tmp/answers 2>&1 &
holder=$!
until [ -e /tmp/written ] || ! kill -0 $holder 2>/dev/null; do sleep 0.1; done
echo 2 >/proc/sys/vm/drop_caches
for _ in $(seq 20); do
	[ "$(under_writeback)" = 0 ] || sleep 0.2
done
tap_is "$(under_writeback)" 0 "what is asked to give memory back commits"
touch /tmp/enough
wait $holder
tap_is "$(sed -n 1p /tmp/answers)" "counted less" "unstable data counts as under write-back"
tap_is "$(sed -n 2p /tmp/answers)" all "syncfs waits for what another syncfs waits for"

# Writers against a server that does not come to an end with COMMIT.
dmesg -C
mkdir /mnt/dafs/many
for i in $(seq 16); do
	: >/mnt/dafs/many/"$i"
done
sync -f /mnt/dafs
slow_flush 3600000
pids=
for i in $(seq 16); do
	dd if=/dev/zero of=/mnt/dafs/many/"$i" bs=64k count=192 conv=notrunc 2>/dev/null &
	pids="$pids $!"
done
# until they are done, or do not get on
written=-1
while :; do
	sleep 3
	now=$(counted WRITE_DIRECT 6)
	[ "$now" != "$written" ] || break
	written=$now
done
tap_run "they write ($((written >> 20)) MiB)" [ "$written" -gt 33554432 ]
# a sixteenth of the memory of the machine, and the requests that are under way
kept=$(under_writeback)
tap_run "what is kept has a bound ($((kept >> 10)) MiB)" [ "$kept" -lt 150000 ]
tap_is "$(dmesg | grep -ci 'out of memory\|oom-kill\|oom_reaper')" 0 "no process is killed for memory"
slow_flush 0
failed=0
for pid in $pids; do
	wait "$pid" || failed=$((failed + 1))
done
tap_is $failed 0 "all finish when the server does"
tap_is "$(find /srv/data/many -type f -size 12288k | wc -l)" 16 "and all is there"
tap_is "$(under_writeback)" 0 "nothing is left"
umount /mnt/dafs
unload_modules
umount /srv/data
dmsetup remove slow
tap_done
