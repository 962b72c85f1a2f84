# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Uncommitted data is counted, limited if the server is slow, and committed by syncfs(2).
# bed: um
# memory: 1G
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
mkdir -p /srv/data
make_slow_disk 400
mkfs.ext4 -q -F -I 256 /dev/mapper/slow &&
	mount -t ext4 /dev/mapper/slow /srv/data || tap_bail "no ext4 for the exports"
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs || tap_bail "no mount"

# Memory pressure, syncfs(2) and fsync(2) commit all data.
cat >/tmp/unstable.py <<'END'
import ctypes, os, time
libc = ctypes.CDLL(None)
# less than the limit at which a mount on this machine commits
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
# A timer commits after five seconds; a slow machine that did not finish before retries.
for _ in range(5):
    write(fds)
    counted = under_writeback()
    if counted >= FILES * 2 * SIZE // 1024:
        break
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
# Memory reclaim commits earlier than the timer of five seconds.  A machine too slow
# to tell them apart retries.
TIMER = 5
def committed_in():
    libc.syncfs(fds[0])
    time.sleep(TIMER + 1)           # until all earlier timers have expired
    begin = time.monotonic()
    write(fds)
    written = time.monotonic() - begin
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("2")
    while under_writeback():
        time.sleep(0.05)
    return written, time.monotonic() - begin
for _ in range(5):
    written, committed = committed_in()
    if committed < TIMER:
        break
print("sooner" if committed < TIMER else f"written in {written:.1f} s, stable in {committed:.1f} s")
END
python3 /tmp/unstable.py >/tmp/answers 2>&1
tap_is "$(sed -n 1p /tmp/answers)" "counted less" "unstable data counts as under write-back"
tap_is "$(sed -n 2p /tmp/answers)" all "syncfs waits for what another syncfs waits for"
tap_is "$(sed -n 3p /tmp/answers)" sooner "what is asked to give memory back commits"

# A memory cgroup below the limit of uncommitted data: its tasks wait for COMMIT, and
# are not OOM-killed.
slow_disk 0 500
mkdir /tmp/cgroup
mount -t cgroup2 cgroup2 /tmp/cgroup && echo +memory >/tmp/cgroup/cgroup.subtree_control &&
	mkdir /tmp/cgroup/small && echo 8M >/tmp/cgroup/small/memory.max ||
	tap_bail "no memory cgroup"
tap_run "a writer in a small memory cgroup" sh -c "echo \$\$ >/tmp/cgroup/small/cgroup.procs &&
	exec dd if=/dev/zero of=/mnt/dafs/small bs=64k count=768 conv=fsync"
tap_is "$(awk '$1 == "oom_kill" { print $2 }' /tmp/cgroup/small/memory.events)" 0 \
	"is not killed for memory"
rm /mnt/dafs/small
slow_disk 0 0

# Writers with a server on which COMMIT does not complete.
dmesg -C
mkdir /mnt/dafs/many
for i in $(seq 16); do
	: >/mnt/dafs/many/"$i"
done
sync -f /mnt/dafs
slow_disk 0 3600000
pids=
for i in $(seq 16); do
	dd if=/dev/zero of=/mnt/dafs/many/"$i" bs=64k count=192 conv=notrunc 2>/dev/null &
	pids="$pids $!"
done
tap_run "they write until they wait" eventually keeps_most
tap_run "what is kept has a bound" is_bounded
tap_is "$(dmesg | grep -ci 'out of memory\|oom-kill\|oom_reaper')" 0 "no process is killed for memory"
slow_disk 0 0
# shellcheck disable=SC2086 # a list
tap_run "all finish when the server does" wait_all $pids
tap_is "$(find /srv/data/many -type f -size 12288k | wc -l)" 16 "and all is there"
tap_is "$(under_writeback)" 0 "nothing is left"
umount /mnt/dafs
unload_modules
umount /srv/data
remove_slow_disk
tap_done
