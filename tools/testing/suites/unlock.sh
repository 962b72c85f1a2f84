# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What was written under a lock comes before its release, whatever becomes of the program; and a
# lock is not made weaker by a program that waits for another.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/fast 64
mkdir -p /srv/slow
make_slow_disk 64
# while the disk hangs, the journal does not start by itself what others would wait for; nor is the
# block of an inode locked by a commit of another file
mkfs.ext4 -q -F -b 4096 -I 4096 -N 256 /dev/mapper/slow &&
	mount -t ext4 -o noatime,commit=3600 /dev/mapper/slow /srv/slow || tap_bail "no ext4 for the exports"
EXPORTS=/srv/fast:no_root_squash,/srv/slow:no_root_squash
load_modules $EXPORTS
no_delegations()
{
	echo 0 >/sys/module/dafsd/parameters/max_delegations
}
no_delegations
for export in fast slow; do
	tap_run "one client of $export" mount_dafs $export /mnt/a/$export clientid=one
	tap_run "another client" mount_dafs $export /mnt/b/$export clientid=two
done
A=/mnt/a/slow B=/mnt/b/slow D=/srv/slow

# actors.py: processes that lock and write when they are told to
mkdir /tmp/py
export PYTHONPATH=/tmp/py
cat >/tmp/py/actors.py <<'PY'
import ctypes, errno, fcntl, mmap, os, select, sys, time
libc = ctypes.CDLL(None)
# in seconds
PATIENCE = 200
class Actor:
    """A process with an open file."""
    def __init__(self, path, flags=0):
        self.inbox, child_out = os.pipe()
        child_in, self.outbox = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            # so that it sees when the program has ended that tells it what to do
            os.close(self.inbox)
            os.close(self.outbox)
            self.fd = os.open(path, os.O_RDWR | flags)
            os.write(child_out, b"r")
            while True:
                command = os.read(child_in, 200).decode()
                if not command:
                    os._exit(0)
                os.write(child_out, self.run(command.split()).encode())
        os.close(child_out)
        os.close(child_in)
        self.answer()
    def run(self, words):
        what = words[0]
        if what == "map":               # whose pages are read when they are written elsewhere
            with open(words[1], "rb") as file:
                self.map = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
            return "ok"
        numbers = [int(word) for word in words[1:3]]
        try:
            if what == "read":
                return str(len(os.pread(self.fd, 1 << 20, 0)))
            if what == "write":
                os.pwrite(self.fd, words[3].encode() * numbers[1], numbers[0])
            elif what == "copy":
                os.pwrite(self.fd, memoryview(self.map)[:numbers[1]], numbers[0])
            elif what == "sent":        # written, and not committed
                libc.sync_file_range(self.fd, ctypes.c_long(0), ctypes.c_long(0), 7)
            elif what == "exit":
                os._exit(0)
            else:
                how = {"w": fcntl.LOCK_EX | fcntl.LOCK_NB, "W": fcntl.LOCK_EX,
                       "r": fcntl.LOCK_SH | fcntl.LOCK_NB, "R": fcntl.LOCK_SH,
                       "u": fcntl.LOCK_UN}[what]
                fcntl.lockf(self.fd, how, numbers[1], numbers[0])
            return "ok"
        except OSError as error:
            return errno.errorcode[error.errno]
    def tell(self, command):
        os.write(self.outbox, command.encode())
    def answered(self, seconds):
        return bool(select.select([self.inbox], [], [], seconds)[0])
    def answer(self):
        if not self.answered(PATIENCE):
            sys.exit("no answer")
        return os.read(self.inbox, 200).decode()
    def do(self, command):
        self.tell(command)
        return self.answer()
    def is_blocked(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "D"
    def until_blocked(self):
        """Not only for a moment."""
        times, until = 0, time.monotonic() + PATIENCE
        while times < 40:
            if time.monotonic() > until:
                sys.exit("does not wait")
            times = times + 1 if self.is_blocked() else 0
            time.sleep(0.05)
PY

# Two programs of one client have locked a part of a page each.  One of them is writing when the
# other one unlocks; another client then locks that part.
cat >/tmp/py/beside.py <<'PY'
import os, sys
from actors import Actor
ours, theirs, backing, source = sys.argv[1:]
one, two, other = Actor(ours), Actor(ours), Actor(theirs)
print(two.do(f"map {source}"))
print(one.do("w 0 100"), two.do("w 100 0"), two.do("read"), two.do("write 300 100 o"))
os.system("dmsetup suspend --nolockfs slow")
two.tell("copy 200 100")
two.until_blocked()
one.tell("u 0 100")
other.tell("W 0 100")
# in vain, if the lock is kept until the other program has written
if other.answered(3):
    other.answer()
    other.do("write 0 100 B")
    other.do("u 0 100")
    early = True
else:
    early = False
os.system("dmsetup resume slow")
print(two.answer(), one.answer(), "early" if early else other.answer())
other.do("write 0 100 B")
print(other.do("u 0 100"), two.do("u 100 0"))
with open(backing, "rb") as file:
    data = file.read()
print(data[:100].strip(b"B"), data[100:200].strip(b"o"), data[200:300].strip(b"S"), early)
PY
yes o | tr -d '\n' | head -c 65536 >/srv/fast/beside
yes S | tr -d '\n' | head -c 65536 >$D/source
sync -f $D
echo 1 >/proc/sys/vm/drop_caches
tap_is "$(python3 -B /tmp/py/beside.py /mnt/a/fast/beside /mnt/b/fast/beside /srv/fast/beside \
	$D/source)" "ok
ok ok 65536 ok
ok ok ok
ok ok
b'' b'' b'' False" "a write under a lock comes before its neighbour is unlocked"

# A program that waits for another client asks for less than what a program has locked beside it
cat >/tmp/py/weaker.py <<'PY'
import sys, time
from actors import Actor
ours, theirs, backing = sys.argv[1:]
waits, writes, other, local = Actor(ours), Actor(ours), Actor(theirs), Actor(backing)
print(other.do("w 6 4"))
waits.tell("R 0 10")
time.sleep(0.7)
print(writes.do("w 0 5"))
local.tell("R 0 5")
time.sleep(0.2)
print(other.do("u 6 4"), local.answered(3))
print(writes.do("write 0 5 A"), writes.do("u 0 5"), local.answer(), local.do("u 0 5"),
      waits.answer(), waits.do("u 0 10"))
PY
echo 0123456789 >/srv/fast/weaker
tap_is "$(python3 -B /tmp/py/weaker.py /mnt/a/fast/weaker /mnt/b/fast/weaker /srv/fast/weaker)" \
	"ok
ok
ok False
ok ok ok ok ok ok" "a lock is not made weaker by a program that has waited"

# What is to be written there already would lock blocks of inodes.
hang_disk()
{
	sync
	slow_disk 3600000 3600000
}

# denied FILE: the answer of another client's attempt, some time after a lock might have ended
denied()
{
	sleep 2
	python3 -B - "$1" <<'PY'
import sys
from actors import Actor
print(Actor(sys.argv[1]).do("w 0 0"))
PY
}

# comes_last NAME WHAT: another client writes behind what is on its way still
comes_last()
{
	tap_is "$(denied "$B/$1")" EAGAIN "$2"
	python3 -B - "$B/$1" >/tmp/out.last <<'PY' &
import sys
from actors import Actor
other = Actor(sys.argv[1])
print(other.do("W 0 0"), other.do("write 0 4 B"), other.do("u 0 0"))
PY
	last=$!
	slow_disk 0 0
	tap_run "then another client locks the file" wait $last
	tap_is "$(cat /tmp/out.last) $(head -c 6 "$D/$1")" "ok ok ok BBBBAA" "and writes last"
}

# first_is LETTER FILE
first_is()
{
	[ "$(head -c 1 "$2")" = "$1" ]
}

# begin FILE SIZE FLAG: a process that writes under a lock, or splices; $! is the process
begin()
{
	python3 -B - "$@" <<'PY' &
import fcntl, mmap, os, sys
path, size, flag = sys.argv[1:]
fd = os.open(path, os.O_RDWR | (getattr(os, flag) if flag.startswith("O_") else 0))
fcntl.lockf(fd, fcntl.LOCK_EX)
data = mmap.mmap(-1, int(size))
data.write(b"A" * int(size))
if flag == "splice":
    out, into = os.pipe()
    os.write(into, data)
    os.splice(out, fd, int(size), offset_dst=0)
else:
    os.pwrite(fd, data, 0)
fcntl.lockf(fd, fcntl.LOCK_UN)
PY
}

# die PID: kills it; then it has ended, or waits for the server as any program that ends
die()
{
	kill -9 "$1"
	waits_for_server "$1"
	true
}

# So are what it has spliced, and its appends, in a message or by RDMA
begin_and_kill()
{
	hang_disk
	begin "$A/$1" "$2" "$3"
	one=$!
	tap_run "$2 bytes, $3" eventually first_is A "$D/$1"
	die $one
	comes_last "$1" "its lock stays until they are written"
	wait $one 2>/dev/null
}
dd if=/dev/zero of=$D/spliced bs=64k count=1 conv=fsync 2>/dev/null
begin_and_kill spliced 4096 splice
for size in 4096 65536; do
	: >$D/appended$size
	sync -f $D
	begin_and_kill appended$size $size O_APPEND
done

# A killed program's direct writes, in several requests or in one, are under way
for size in 4194304 4096; do
	dd if=/dev/zero of=$D/direct bs=64k count=64 conv=fsync 2>/dev/null
	hang_disk
	begin $A/direct $size O_DIRECT
	one=$!
	tap_run "$size bytes are written directly" eventually first_is A $D/direct
	die $one
	comes_last direct "its lock stays until they are written"
	wait $one 2>/dev/null
done

# So is a write that it has left to io_uring
cat >/tmp/py/uring.py <<'PY'
import ctypes, fcntl, mmap, os, struct, sys, time
path, size = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
SETUP, ENTER, OFF_SQES, OP_WRITE, ENTRIES = 425, 426, 0x10000000, 23, 1
fd = os.open(path, os.O_RDWR | os.O_DIRECT)
fcntl.lockf(fd, fcntl.LOCK_EX)
data = mmap.mmap(-1, size)
data.write(b"A" * size)
params = ctypes.create_string_buffer(120)
ring = libc.syscall(SETUP, ENTRIES, params)
if ring < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
tail, array = struct.unpack_from("<I", params, 44)[0], struct.unpack_from("<I", params, 64)[0]
queue = mmap.mmap(ring, array + 4 * ENTRIES)
entries = mmap.mmap(ring, 64 * ENTRIES, offset=OFF_SQES)
address = ctypes.addressof(ctypes.c_char.from_buffer(data))
struct.pack_into("<BBHiQQIIQ", entries, 0, OP_WRITE, 0, 0, fd, 0, address, size, 0, 0)
struct.pack_into("<I", queue, array, 0)
struct.pack_into("<I", queue, tail, 1)
if libc.syscall(ENTER, ring, 1, 0, 0, None, 0) != 1:
    sys.exit(os.strerror(ctypes.get_errno()))
time.sleep(400)
PY
dd if=/dev/zero of=$D/uring bs=64k count=1 conv=fsync 2>/dev/null
hang_disk
python3 -B /tmp/py/uring.py $A/uring 4096 &
one=$!
tap_run "4096 bytes are written by io_uring" eventually first_is A $D/uring
die $one
comes_last uring "its lock stays until they are written"
wait $one 2>/dev/null

# A program is killed while it waits for COMMIT to unlock
dd if=/dev/zero of=$D/commit bs=64k count=1 conv=fsync 2>/dev/null
hang_disk
begin $A/commit 65536 none
one=$!
tap_run "data is written, and not stable" eventually first_is A $D/commit
sleep 1
kill -9 $one
comes_last commit "a program that is killed keeps its lock until its data is stable"
wait $one 2>/dev/null

# The server has restarted, and the data has to be sent again, when a program ends
commits()
{
	sed -n "/ on \/mnt\/a\/slow /,/^device/s/^[[:space:]]*COMMIT: \([0-9]*\).*/\1/p" \
		/proc/self/mountstats | grep . || echo 0
}
cat >/tmp/py/ends.py <<'PY'
import os, sys, time
from actors import Actor
path, marker = sys.argv[1:]
actor = Actor(path)
actor.do("w 0 0")
actor.do("write 0 65536 A")
actor.do("sent")
open(marker, "w").close()
while os.path.exists(marker):
    time.sleep(0.05)
actor.tell("exit")
os.wait()
PY
# the client may have committed in the background meanwhile: then it is done again
for _ in 1 2 3 4 5; do
	dd if=/dev/zero of=$D/again bs=64k count=1 conv=fsync 2>/dev/null
	before=$(commits)
	python3 -B /tmp/py/ends.py $A/again /tmp/ends &
	one=$!
	eventually [ -e /tmp/ends ]
	sync -f $D
	# COMMIT finds nothing to write and does not wait for the disk
	slow_disk 3600000 0
	end_server
	[ "$(commits)" != "$before" ] || break
	slow_disk 0 0
	modprobe dafsd exports=$EXPORTS
	rm /tmp/ends
	wait $one
done
tap_run "a server restarts" modprobe dafsd exports=$EXPORTS
no_delegations
locked()
{
	cat /sys/fs/dafsd/*/locks | grep -q -v '^0$'
}
tap_run "and gives the lock back" eventually locked
rm /tmp/ends
tap_run "a program ends that has written to it before" wait $one
comes_last again "its lock stays until the data is stable"

tap_run "umount" umount /mnt/a/fast /mnt/a/slow /mnt/b/fast /mnt/b/slow
tap_run "nothing is left" unload_modules
umount /srv/fast /srv/slow
remove_slow_disk
tap_done
