# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Writes during a COMMIT; the server's disk completes writes only when told to.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
mkdir -p /srv/data
make_slow_disk 200
# No journal commits, because later writes would wait for the blocked ones.
mkfs.ext4 -q -F -I 256 /dev/mapper/slow &&
	mount -t ext4 -o commit=3600 /dev/mapper/slow /srv/data || tap_bail "no ext4 for the exports"
load_modules /srv/data:no_root_squash
# programs of the server write to files that the client has open, and are not to wait for it
echo 0 >/sys/module/dafsd/parameters/max_delegations
mount_dafs data /mnt/dafs timeo=100 || tap_bail "no mount"

# await WHAT COMMAND: waits until the command succeeds
await()
{
	what=$1
	shift
	eventually "$@" || tap_not_ok "$what"
}

committing()
{
	grep -q ' COMMIT' $tracing/trace
}

tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
watch_commits()
{
	echo 0 >$tracing/events/dafs/enable
	echo >$tracing/trace
	echo 1 >$tracing/events/dafs/dafs_request/enable
}

# Stores to a page of a file of three when a file with its name appears below
# /tmp/say, starts write-back and reports it.  The first page is only read.
cat >/tmp/stores.py <<'END'
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
PAGE = mmap.PAGESIZE
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 3 * PAGE)
memory[0]
def wait(name):
    while not os.path.exists(f"/tmp/say/{name}"):
        time.sleep(0.05)
def store(page, name):
    memory[page * PAGE:page * PAGE + 3] = b"new"
    if name != "dirty" and libc.sync_file_range(fd, 0, 0, 7):
        sys.exit("sync_file_range")
    open(f"/tmp/say/{name}.done", "w").close()
first = sys.argv[2]
store(1, first)
wait("second")
store(2, "second")
wait("end")
os.fsync(fd)
END

# stores NAME FIRST: makes the file and starts the program that stores to it, with a
# slow disk.  COMMITs are watched before, because write-back may send one at any time.
stores()
{
	rm -rf /tmp/say
	mkdir /tmp/say
	head -c 12288 /dev/zero | tr '\0' o >/mnt/dafs/"$1"
	sync /mnt/dafs/"$1"
	watch_commits
	slow_disk 3600000 3600000
	python3 /tmp/stores.py /mnt/dafs/"$1" "$2" &
	storer=$!
	await "the first store" [ -e /tmp/say/"$2".done ]
}

say()
{
	touch /tmp/say/"$1"
	await "$1" [ -e /tmp/say/"$1".done ]
}

stop_storer()
{
	touch /tmp/say/end
	wait $storer
}

# A direct write waits for COMMIT before it drops cached data.  Data stored and
# written back by then is older than the direct write, and must not overwrite it when
# it is sent again after the server has lost uncommitted data.
stores direct written
dd if=/dev/zero bs=512 count=1 2>/dev/null | tr '\0' d |
	dd of=/mnt/dafs/direct bs=512 seek=17 conv=notrunc oflag=direct 2>/dev/null &
direct=$!
await "COMMIT" committing
say second
slow_disk 0 0
wait $direct
modprobe -r dafsd
modprobe dafsd exports=/srv/data:no_root_squash max_delegations=0
tap_run "fsync after a restart" stop_storer
tap_is "$(dd if=/srv/data/direct bs=512 skip=16 count=3 2>/dev/null | tr -s 'a-z')" "newodo" \
	"a direct write is not undone by what was stored before"

# Cached data that others have changed is dropped after all writes of this client are
# stable.
stores zapped dirty
printf else | dd of=/srv/data/zapped conv=notrunc 2>/dev/null
watch_commits
# the open that drops the cache
cat >/tmp/open.py <<'END'
import os, sys
print(os.read(os.open(sys.argv[1], os.O_RDONLY), 4).decode())
END
python3 /tmp/open.py /mnt/dafs/zapped >/tmp/opened &
opener=$!
await "COMMIT" committing
say second
watch_commits
slow_disk 0 0
wait $opener
left=$(under_writeback)
tap_is "$(cat /tmp/opened)" else "an open sees what others have written"
tap_is "$left" 0 "what it has dropped is stable"
stop_storer
tap_is "$(tr -s 'a-z' </srv/data/zapped)" "elseonewonewo" "and all of it is there"

# A GETATTR during an extending write is not mistaken for a change by others: cached data
# stays.
mount_dafs data /mnt/asks acregmin=0
cat >/tmp/grows.py <<'END'
import os, threading, time
fd = os.open("/mnt/asks/grows", os.O_RDWR)
os.pread(fd, 12288, 0)
def write():
    os.pwrite(fd, b"new" * 100, 12288)
    os.fsync(fd)
writer = threading.Thread(target=write)
writer.start()
while os.stat("/srv/data/grows").st_size != 12588:
    time.sleep(0.05)
os.pread(fd, 10, 0)
open("/tmp/say/read", "w").close()
writer.join()
END
head -c 12288 /dev/zero >/mnt/asks/grows
sync /mnt/asks/grows
slow 3600000
python3 /tmp/grows.py &
grower=$!
await "a read beside a write" [ -e /tmp/say/read ] &&
	tap_ok "a read beside a write is of what is cached"
slow 0
tap_run "the write ends" wait $grower
umount /mnt/asks

# syncfs(2) waits for the COMMITs of another syncfs(2) or of a program.
cat >/tmp/syncfs.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/mnt/dafs", os.O_RDONLY)
open(f"/tmp/say/{sys.argv[1]}.begun", "w").close()
if libc.syncfs(fd):
    sys.exit("syncfs")
open(f"/tmp/say/{sys.argv[1]}.over", "w").close()
END
stores synced written
python3 /tmp/syncfs.py first &
first=$!
await "COMMIT" committing
python3 /tmp/syncfs.py second &
second=$!
await "the second syncfs" [ -e /tmp/say/second.begun ]
sleep 2
tap_is "$(cd /tmp/say && ls ./*.over 2>/dev/null)" "" "no syncfs ends before COMMIT does"
tap_run "there is something to wait for" [ "$(under_writeback)" -gt 0 ]
slow_disk 0 0
tap_run "the first one ends then" wait $first
tap_run "and the second one" wait $second
tap_is "$(under_writeback)" 0 "and all is stable"
touch /tmp/say/second
stop_storer

echo 0 >$tracing/events/dafs/enable
umount /mnt/dafs
unload_modules
umount /srv/data
remove_slow_disk
tap_done
