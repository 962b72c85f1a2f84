# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Servers that restart, links that go down, devices that are removed.
# bed: um
# timeout: 480
# may-log: EXT4-fs error (device dm-0)

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 200
mkdir /srv/data/part /srv/data/free
EXPORTS=/srv/data:no_root_squash,/srv/data/part:no_root_squash:subtree_check
EXPORTS=$EXPORTS,/srv/data/free:no_root_squash
load_modules $EXPORTS
mkdir -p /mnt/dafs /mnt/soft
dd if=/dev/urandom of=/tmp/random bs=1M count=24 2>/dev/null

start_server()
{
	modprobe dafsd exports=$EXPORTS
}

stop_server()
{
	modprobe -r dafsd
}

# write_on FILE: writes it repeatedly, and once more when /tmp/written.on exists
write_on()
{
	until [ -e /tmp/written.on ]; do
		dd if=/tmp/random of="$1" bs=256k conv=fsync 2>/dev/null || return
	done
	dd if=/tmp/random of="$1" bs=256k conv=fsync 2>/dev/null
}

# begin_to_write NAME: waits for the first data; $writer continues until /tmp/written.on
# exists.
begin_to_write()
{
	rm -f /tmp/written.on
	write_on /mnt/dafs/"$1" &
	writer=$!
	eventually [ -s /srv/data/"$1" ]
}

# Number of COMMITs with a response
commits()
{
	over=$(counted COMMIT 1) lost=$(counted COMMIT 3)
	echo $((${over:-0} - ${lost:-0}))
}

# Waits until the mount has noticed that the server is gone and updated its statistics.
is_down()
{
	grep -q 'session:.*state=down' /proc/self/mountstats
}

# stop_before_commit TOLD GO COMMAND...: unloads the server when the command has made
# the file TOLD, before a COMMIT of its data; the command continues when GO exists.  The
# mount commits after some seconds anyway: if it did, retries.
stop_before_commit()
{
	told=$1 go=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8; do
		rm -f "$told" "$go"
		before=$(commits)
		"$@" &
		writer=$!
		until [ -e "$told" ] || gone $writer; do sleep 0.1; done
		stop_server
		eventually is_down
		[ "$(commits)" != "$before" ] || return 0
		start_server
		touch "$go"
		wait $writer
	done
	tap_bail "a COMMIT was always earlier"
}

# R-2.2-01: the server is unloaded while a hard mount writes, and comes back.
mount_dafs data /mnt/dafs timeo=100
begin_to_write load
tap_run "the server's module unloads under load" stop_server
sleep 2
tap_run "the writer waits" kill -0 $writer
cat /mnt/dafs/load >/dev/null 2>&1 &
reader=$!
start_server
touch /tmp/written.on
tap_run "the writer finishes" wait $writer
tap_run "the reader finishes" wait $reader
tap_run "nothing was lost" cmp /tmp/random /srv/data/load
tap_run "mountstats tells of it" grep -q "state=up,reconnects=[1-9]" /proc/self/mountstats
umount /mnt/dafs

# R-4.1.4-14: the key of filehandles is kept.  A new key makes all of them stale,
# the same key as a parameter does not.
tap_is "$(stat -c "%a %s" /tmp/dafs/fh_key)" "600 33" "the key of filehandles is kept"
key=$(cat /tmp/dafs/fh_key)
mount_dafs data /mnt/dafs
exec 3<>/mnt/dafs/load
stop_server
modprobe dafsd exports=$EXPORTS fh_key=$key state_dir=/proc/none
tap_run "a server with the same key" dd of=/dev/null bs=1M count=1 iflag=direct <&3
stop_server
modprobe dafsd exports=$EXPORTS fh_key="$(echo "$key" | rev)"
tap_is "$(dd of=/dev/null bs=1M count=1 iflag=direct <&3 2>&1 | grep -c Stale)" 1 \
	"with another key filehandles end"
exec 3<&-
umount /mnt/dafs
stop_server
tap_fails "what is no key is refused" modprobe dafsd exports=$EXPORTS fh_key=$key.

# If the key cannot be read, or a new one cannot be stored, the server does not start:
# another key would end all opens of clients.
no_server()
{
	dmesg -C
	tap_fails "$1: no server" modprobe dafsd exports=$EXPORTS state_dir="$2"
	tap_is "$(dmesg | grep -c "cannot get the key of filehandles from $2/fh_key ")" 1 \
		"$1: the log says why"
}
no_server "a directory that cannot be made" /proc/none
mkdir /tmp/short
printf %.20s "$key" >/tmp/short/fh_key
no_server "half a key" /tmp/short
tap_is "$(wc -c </tmp/short/fh_key)" 20 "it is left as it is"
: >/tmp/short/fh_key
no_server "an empty file" /tmp/short
# the temporary file of a key, which a crash may leave
rm /tmp/short/fh_key
echo rest >/tmp/short/fh_key.new
CONFIG=/sys/kernel/config/dafsd/exports
mount -t configfs none /sys/kernel/config 2>/dev/null
# enable_free: enables the first export of a server that was loaded without one
enable_free()
{
	mkdir -p $CONFIG/free && echo /srv/data/free >$CONFIG/free/path &&
		echo 1 2>/dev/null >$CONFIG/free/enable
}

remove_free()
{
	echo 0 >$CONFIG/free/enable && rmdir $CONFIG/free
}

# A built-in server starts before the root file system is mounted, so it reads its key
# when an export is enabled.  Without a key it neither makes nor accepts filehandles.
modprobe dafsd state_dir=/tmp/short lease=1
tap_is "$(ls /tmp/short)" fh_key.new "a server without exports does not look for its key"
sleep 3
tap_is "$(mount -t dafs $ADDR4:/ /mnt/dafs 2>&1 | grep -c 'Stale file handle')" 1 \
	"it gives no filehandle without a key"
tap_run "when an export is enabled without a key one is made" enable_free
tap_run "and filehandles are given" mount_dafs free /mnt/dafs
umount /mnt/dafs
remove_free
stop_server
: >/tmp/empty
mkdir /tmp/bad
cp /tmp/empty /tmp/bad/fh_key
modprobe dafsd state_dir=/tmp/bad
tap_fails "with a key that cannot be read no export is enabled" enable_free
cp /tmp/short/fh_key /tmp/bad/fh_key
tap_run "until it can be read" enable_free
remove_free
stop_server
tap_is "$(find /tmp/short -name '*.new')" "" "with nothing left beside it"
tap_is "$(grep -cxE '[0-9a-f]{32}' /tmp/short/fh_key)" 1 "a whole one"
disk="0 16384 linear /dev/ram1 0"
dmsetup create state --table "$disk" && mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/mapper/state &&
	mkdir /tmp/disk && mount /dev/mapper/state /tmp/disk || tap_bail "no second disk"
modprobe dafsd exports=$EXPORTS state_dir=/tmp/disk
stop_server
kept=$(cat /tmp/disk/fh_key)
umount /tmp/disk
mount -o errors=continue /dev/mapper/state /tmp/disk
ls /tmp/disk >/dev/null
# table TABLE: replaces the table of the key's disk
table()
{
	dmsetup suspend --nolockfs state && dmsetup load state --table "$1" && dmsetup resume state
}
table "0 16384 error"
no_server "a disk that cannot be read" /tmp/disk
table "$disk"
umount /tmp/disk
mount /dev/mapper/state /tmp/disk
tap_run "when the disk is well" modprobe dafsd exports=$EXPORTS state_dir=/tmp/disk
tap_is "$(cat /tmp/disk/fh_key)" "$kept" "the key is what it was"
stop_server
umount /tmp/disk
dmsetup remove state
start_server
tap_is "$(cat /tmp/dafs/fh_key)" "$key" "the key that was kept is as it was"

# R-6.5.8-04: uncommitted data is sent again to a restarted server: the file is
# truncated meanwhile, so only that can restore the data.
mount_dafs data /mnt/dafs
head -c 3000000 /tmp/random >/tmp/part
# Copies a file, and has it written back without a COMMIT.
cat >/tmp/unstable.py <<'END'
import ctypes, os, sys, time
WRITE_AND_WAIT = 7
libc = ctypes.CDLL(None, use_errno=True)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
source, name, told, go = sys.argv[1:]
with open(source, "rb") as data, open(name, "wb", 0) as file:
    file.write(data.read())
    if libc.sync_file_range(file.fileno(), 0, 0, WRITE_AND_WAIT):
        sys.exit("sync_file_range")
    open(told, "w").close()
    while not os.path.exists(go):
        time.sleep(0.1)
    os.fsync(file.fileno())
END
stop_before_commit /tmp/written /tmp/keep \
	python3 /tmp/unstable.py /tmp/part /mnt/dafs/unstable /tmp/written /tmp/keep
tap_run "the server has the data" cmp /tmp/part /srv/data/unstable
: >/srv/data/unstable
start_server
touch /tmp/keep
tap_run "fsync after a restart" wait $writer
tap_run "unstable data are there" cmp /tmp/part /srv/data/unstable

# Reads before COMMIT return the written data, not what a restarted server has, and
# the data is sent again: for a page that was written in part (b: and that is dirty
# in another part), and for direct reads.
cat >/tmp/taken.py <<'END'
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
def write_back(fd, pieces):
    for at, data in pieces.items():
        os.pwrite(fd, data, at)
    if libc.sync_file_range(fd, 0, 0, 7):
        sys.exit("sync_file_range")
def mapped(name, at):
    def read():
        print(name, *(memory[pos:pos + 3].decode() for pos in at), flush=True)
    return read
def direct():
    buffer = mmap.mmap(-1, 4096)
    got = os.preadv(beside, [buffer], 0)
    print("c", got, buffer[:3].decode(), flush=True)
top = sys.argv[1]
fd = os.open(f"{top}/taken", os.O_RDWR)
around = os.open(f"{top}/around", os.O_RDWR)
beside = os.open(f"{top}/around", os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ)
readers = [mapped("a", [0, 100]), mapped("b", [4096, 4196, 7096]), direct]
write_back(fd, {100: b"new", 4196: b"new"})
write_back(around, {0: b"new" * 2000})
os.pwrite(fd, b"top", 7096)
open("/tmp/taken.told", "w").close()
while not os.path.exists("/tmp/taken.go"):
    time.sleep(0.1)
children = [os.fork() or read() or os._exit(0) for read in readers]
time.sleep(1)
open("/tmp/taken.reading", "w").close()
for child in children:
    os.waitpid(child, 0)
os.fsync(fd)
os.fsync(around)
END
head -c 8192 /dev/zero | tr '\0' o >/tmp/taken
head -c 3000 /dev/zero | tr '\0' o >/tmp/around
take()
{
	rm -f /tmp/taken.reading
	cp /tmp/taken /tmp/around /srv/data
	python3 /tmp/taken.py /mnt/dafs >/tmp/taken.said
}
stop_before_commit /tmp/taken.told /tmp/taken.go take
touch /tmp/taken.go
until [ -e /tmp/taken.reading ] || gone $writer; do sleep 0.1; done
cat /tmp/taken >/srv/data/taken
cat /tmp/around >/srv/data/around
start_server
tap_run "fsync after readers" wait $writer
tap_is "$(sort /tmp/taken.said | tr '\n' ' ')" "a ooo new b ooo new top c 4096 new " \
	"readers get what was written"
tap_is "$(tr -s o </srv/data/taken)" onewonewotopo "the server has it again"
tap_is "$(wc -c </srv/data/around) $(tr -d new </srv/data/around | wc -c)" "6000 0" "all of it"

# Data that is sent again does not change a time that was set after the write.
cat >/tmp/dated.py <<'END'
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(fd, b"new" * 100000)
if libc.sync_file_range(fd, 0, 0, 7):
    sys.exit("sync_file_range")
os.utime(fd, (1000000000, 1000000000))
open("/tmp/dated.told", "w").close()
while not os.path.exists("/tmp/dated.go"):
    time.sleep(0.1)
os.fsync(fd)
END
python3 /tmp/dated.py /mnt/dafs/dated &
writer=$!
until [ -e /tmp/dated.told ] || gone $writer; do sleep 0.1; done
stop_server
start_server
touch /tmp/dated.go
tap_run "fsync after utimes" wait $writer
tap_is "$(stat -c %Y /srv/data/dated)" 1000000000 "the time is the one that was set"

# Exports that configfs adds to a restarted server appear after its first clients,
# which lose nothing meanwhile.
exec 4>>/mnt/dafs/open
echo one >&4
sync /mnt/dafs/open
stop_before_commit /tmp/late.told /tmp/late.go \
	python3 /tmp/unstable.py /tmp/part /mnt/dafs/late /tmp/late.told /tmp/late.go
: >/srv/data/late
modprobe dafsd
touch /tmp/late.go
has_client()
{
	ls /sys/fs/dafsd/*/peer >/dev/null 2>&1
}
tap_run "a client is there before the exports" eventually has_client
sleep 2
tap_run "it waits for them" kill -0 $writer
mkdir $CONFIG/data
echo /srv/data >$CONFIG/data/path
echo 0 >$CONFIG/data/root_squash
tap_run "there they are" sh -c "echo 1 >$CONFIG/data/enable"
tap_run "fsync goes on" wait $writer
tap_run "unstable data got there" cmp /tmp/part /srv/data/late
echo two >&4
sync /mnt/dafs/open
exec 4>&-
tap_is "$(tr '\n' ' ' </srv/data/open)" "one two " "what was open still is"
# Clients do not wait for an export that was disabled, nor for a missing one for ever.
exec 4</mnt/dafs/open
begin=$(date +%s)
echo 0 >$CONFIG/data/enable
stale()
{
	dd of=/dev/null bs=4096 count=1 iflag=direct <&4 2>&1 | grep -c Stale
}
tap_is "$(stale)" 1 "an export that was taken away is stale"
took=$(($(date +%s) - begin))
tap_run "at once ($took s)" [ $took -lt 60 ]
rmdir $CONFIG/data
stop_server
modprobe dafsd lease=3
tap_is "$(stale)" 1 "one that does not come is, after a lease"
exec 4<&-
stop_server
start_server
umount /mnt/dafs
mount_dafs data /mnt/dafs

# A task that is killed while it waits for COMMIT drops no data that may have to be
# sent again.
cat >/tmp/dropped.py <<'END'
import ctypes, mmap, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
SIZE = 8 * mmap.PAGESIZE
name, told, go = sys.argv[1:]
fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
direct = os.open(name, os.O_RDWR | os.O_DIRECT)
os.pwrite(fd, b"x" * SIZE, 0)
at = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
if libc.sync_file_range(fd, 0, 0, 7):
    sys.exit("sync_file_range")
def cached():
    pages = ctypes.create_string_buffer(SIZE // mmap.PAGESIZE)
    if libc.mincore(at, SIZE, pages):
        sys.exit("mincore")
    return sum(page & 1 for page in pages.raw)
before = cached()
open(told, "w").close()
while not os.path.exists(go):
    time.sleep(0.1)
child = os.fork()
if not child:
    os.pwrite(direct, mmap.mmap(-1, SIZE), 0)
    os._exit(0)
def waits():
    with open(f"/proc/{child}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] == "D"
for _ in range(50):
    time.sleep(0.1)
    if waits():
        break
os.kill(child, signal.SIGKILL)
while cached() == 8 and not os.waitpid(child, os.WNOHANG)[0]:
    time.sleep(0.1)
print(before, cached(), flush=True)
END
drop()
{
	python3 /tmp/dropped.py /mnt/dafs/dropped /tmp/dropped.told /tmp/dropped.go \
		>/tmp/dropped.said
}
stop_before_commit /tmp/dropped.told /tmp/dropped.go drop
touch /tmp/dropped.go
until [ -s /tmp/dropped.said ] || gone $writer; do sleep 0.1; done
start_server
wait $writer
tap_is "$(cat /tmp/dropped.said)" "8 8" "a killed writer drops no unstable data"

# An open file survives a restart by its handle, even if it is renamed meanwhile.
exec 4>>/mnt/dafs/appended
echo one >&4
sync /mnt/dafs/appended
stop_server
mv /srv/data/appended /srv/data/moved
start_server
echo two >&4
exec 4>&-
tap_is "$(cat /srv/data/moved | tr '\n' ' ')" "one two " \
	"an open file survives a restart"

# R-4.1.4-12: an open file can be used after it is moved to another directory, and
# others are found there; hard links in two directories are one file, or two with
# the same contents.  A restarted server does not find a moved open file if the
# filehandle contains the directory.
cat >/tmp/moves.py <<'END'
import errno, os, sys
top, exports = sys.argv[1:]

def forget():
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("2")

def content(name):
    with open(f"{top}/{name}", "rb") as file:
        return file.read()

def must(ok, what):
    if not ok:
        sys.exit(what)

for name in "from", "to":
    os.mkdir(f"{top}/{name}")
for name in "open", "closed":
    with open(f"{top}/from/{name}", "wb") as file:
        file.write(b"one")
fd = os.open(f"{top}/from/open", os.O_RDWR)
known = os.open(f"{top}/from/closed", os.O_PATH)
for name in "open", "closed":
    os.rename(f"{top}/from/{name}", f"{top}/to/{name}")
forget()
os.pwrite(fd, b"two", 3)
os.fsync(fd)
must(os.fstat(fd).st_nlink == 1, "links of what is open")
must(os.pread(fd, 9, 0) == b"onetwo", "what is open")
must(content("to/open") == b"onetwo", "the same by its new name")
must(content("to/closed") == b"one", "what is not open")
os.link(f"{top}/to/closed", f"{top}/from/link")
pair = [os.open(f"{top}/{name}", os.O_RDWR) for name in ("to/closed", "from/link")]
must(len({os.fstat(file).st_ino for file in pair}) == 1, "the number of hard links")
must([os.fstat(file).st_nlink for file in pair] == [2, 2], "the count of hard links")
must(os.pread(pair[1], 9, 0) == b"one", "a hard link")
os.pwrite(pair[0], b"ONE", 0)
print("one" if os.pread(pair[1], 9, 0) == b"ONE" else "two", end=" ")
for file in pair:
    os.close(file)
must(content("from/link") == b"ONE", "a hard link, closed and opened")
os.system(f"modprobe -r dafsd && modprobe dafsd exports={exports}")
forget()
must(content("to/closed") == b"ONE", "what is not open, after a restart")
try:
    os.pwrite(fd, b"three", 6)
    os.fsync(fd)
    print(content("to/open").decode())
except OSError as error:
    print(errno.errorcode[error.errno])
    must(content("to/open") == b"onetwo", "by its name, after a restart")
END
moves()
{
	mkdir -p /mnt/moves
	mount -t dafs $ADDR4:/data"$1" /mnt/moves
	python3 /tmp/moves.py /mnt/moves "$EXPORTS" 2>&1
	umount /mnt/moves
}
tap_is "$(moves "")" "one onetwothree" "an open file moves to another directory"
tap_is "$(moves /free)" "one onetwothree" "in a part of a file system without subtree_check"
tap_is "$(moves /part)" "two ESTALE" "with it, until the server restarts"

# R-4.4.1.6-01 R-6.5.24-18: all opens are reclaimed as soon as the mount is
# connected again, not when each is used: the server's own kernel refuses to run
# a program that it has open for writing.  An open whose file is gone is lost:
# its user gets an error, and the log has it.
for i in $(seq 40); do
	cp /bin/true /srv/data/prog"$i"
done
cat >/tmp/holder.py <<'END'
import os, time
fds = [(i, os.open(f"/mnt/dafs/prog{i}", os.O_WRONLY | os.O_APPEND)) for i in range(1, 41)]
open("/tmp/held", "w").close()
while not os.path.exists("/tmp/go"):
    time.sleep(0.1)
lost = []
for i, fd in fds:
    try:
        os.write(fd, b"more\n")
        os.fsync(fd)
    except OSError as err:
        lost.append(f"{i}:{err.strerror}")
    os.close(fd)
print(*lost, sep=", ")
END
python3 /tmp/holder.py >/tmp/lost 2>&1 &
holder=$!
until [ -e /tmp/held ] || ! kill -0 $holder; do sleep 0.2; done

# Number of the programs that the server's kernel executes
runs()
{
	n=0
	for i in $(seq 40); do
		[ ! -e /srv/data/prog"$i" ] || ! /srv/data/prog"$i" 2>/dev/null || n=$((n + 1))
	done
	echo $n
}

tap_is "$(runs)" 0 "the server has the opens"
dmesg -C
stop_server
rm /srv/data/prog7 /srv/data/prog23
tap_is "$(runs)" 38 "a server that is not there has none"
start_server
tap_run "the mount is connected again" stat -f /mnt/dafs
tap_is "$(runs)" 0 "it has all opens again, none of them used"
tap_is "$(dmesg | grep -c 'does not give an open file back')" 2 \
	"a line in the log for each that is lost"
touch /tmp/go
wait $holder
tap_is "$(cat /tmp/lost)" "7:Stale file handle, 23:Stale file handle" \
	"only their users get an error"
tap_is "$(runs)" 38 "closed is closed"
tap_is "$(tail -c 5 /srv/data/prog8)" more "what the others wrote is there"

# Files are opened and closed while the server restarts: it has none of them
# open at the end, even if they were closed during their reclaim.
for n in 1 2 3 4; do
	while [ ! -e /tmp/enough ]; do
		for i in $(seq $n 4 40); do
			[ ! -e /mnt/dafs/prog"$i" ] || : 1<>/mnt/dafs/prog"$i"
		done
	done 2>/tmp/churn$n &
	eval churn$n=$!
done
for _ in 1 2 3; do
	sleep 1
	stop_server
	start_server
done
sleep 2
touch /tmp/enough
for n in 1 2 3 4; do
	eval "tap_run 'opening and closing goes on ($n)' wait \$churn$n"
	tap_is "$(cat /tmp/churn$n)" "" "without an error ($n)"
done
# the last CLOSE may be pending
all_run()
{
	[ "$(runs)" = 38 ]
}
tap_run "no open is left behind" eventually all_run

# Soft mounts time out, and can be used again.
mount_dafs data /mnt/soft soft,timeo=20,retrans=2
stop_server
begin=$(date +%s)
tap_fails "a soft mount gives up" stat /mnt/soft/load
took=$(($(date +%s) - begin))
tap_run "within its time ($took s)" [ $took -lt 60 ]
start_server
for _ in $(seq 60); do
	stat /mnt/soft/load >/dev/null 2>&1 && break
	sleep 1
done
tap_run "and works again" cmp /tmp/random /mnt/soft/load
umount /mnt/soft

# A killed process does not wait for a dead server, not even with memory
# registered for it.
cat >/tmp/direct.py <<'END'
import mmap, os, sys, time
fd = os.open("/mnt/dafs/load", os.O_RDWR | os.O_DIRECT)
# of one request, or of several
memory = mmap.mmap(-1, int(sys.argv[2]))
open(f"/tmp/ready.{sys.argv[1]}.{sys.argv[2]}", "w").close()
while not os.path.exists("/tmp/dead"):
    time.sleep(0.1)
(os.preadv if sys.argv[1] == "read" else os.pwritev)(fd, [memory], 0)
END
victims=
for how in read write; do
	for size in 4096 4194304; do
		python3 /tmp/direct.py $how $size &
		victims="$victims $!"
		until [ -e /tmp/ready.$how.$size ] || ! kill -0 $! 2>/dev/null; do
			sleep 0.2
		done
	done
done
cat >/tmp/unlinked.py <<'END'
import os, time
name = "/mnt/dafs/unlinked"
fds = [os.open(name, os.O_RDWR | os.O_CREAT), os.open("/mnt/dafs", os.O_RDWR | os.O_TMPFILE)]
os.unlink(name)
open("/tmp/ready.unlinked", "w").close()
while not os.path.exists("/tmp/dead"):
    time.sleep(0.1)
for fd in fds:
    os.pwrite(fd, b"dirty" * 10000, 0)
time.sleep(1000)
END
python3 /tmp/unlinked.py &
victims="$victims $!"
until [ -e /tmp/ready.unlinked ] || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
# A write past the end of a file waits for the read of its last page, and for page
# faults anywhere.  Either task can be killed first.
cat >/tmp/extend.py <<'END'
import mmap, os, sys, time
name, touched = sys.argv[1], int(sys.argv[2])
fd = os.open(name, os.O_RDWR | os.O_DIRECT)
size = os.fstat(fd).st_size
memory = mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ)
fault = os.fork()
if not fault:
    while not os.path.exists("/tmp/dead"):
        time.sleep(0.1)
    memory[touched]
    os._exit(0)
while not os.path.exists("/tmp/dead"):
    time.sleep(0.1)
def wait_for_wait(pid):
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "D":
                return
        time.sleep(0.1)
wait_for_wait(fault)
write = os.fork()
if not write:
    os.pwrite(fd, mmap.mmap(-1, 4096), size)
    os._exit(0)
wait_for_wait(write)
with open(name.replace("/mnt/dafs/", "/tmp/pids."), "w") as pids:
    print(fault, write, file=pids)
os.wait(), os.wait()
END
head -c 66048 /tmp/random >/srv/data/last
truncate -s 64M /srv/data/other
python3 /tmp/extend.py /mnt/dafs/last 65536 &
python3 /tmp/extend.py /mnt/dafs/other 0 &
until [ "$(grep -lE 'dafs/(last|other)' /proc/[0-9]*/maps 2>/dev/null | wc -l)" = 4 ]; do
	sleep 0.2
done
# goes PID: waits until the process has ended
goes()
{
	eventually gone "$1"
}
stop_server
touch /tmp/dead
for name in last other; do
	until [ -s /tmp/pids.$name ]; do sleep 0.2; done
done
read -r fault write </tmp/pids.last
kill -9 "$fault"
tap_run "a killed fault goes" goes "$fault"
kill -9 "$write"
tap_run "and who waited for the page that it wanted" goes "$write"
read -r fault write </tmp/pids.other
kill -9 "$write"
tap_run "a killed writer goes, who waited for a fault" goes "$write"
kill -9 "$fault"
tap_run "and the fault" goes "$fault"
cat /mnt/dafs/moved >/dev/null 2>&1 &
victims="$victims $!"
sleep 1
for victim in $victims; do
	tap_run "it waits" kill -0 "$victim"
	kill -9 "$victim"
	tap_run "a killed process goes" goes "$victim"
done
tap_run "umount -f of a dead server" timeout 30 umount -f /mnt/dafs
grep -q ' /mnt/dafs ' /proc/mounts && umount -l /mnt/dafs
start_server

# The link goes down under load and comes back. A packet sent meanwhile breaks
# soft-RoCE's management queue pair, which the CM uses, for good: only a new
# device helps.
mount_dafs data /mnt/dafs timeo=30
begin_to_write link
ip link set dum0 down
sleep 3
ip link set dum0 up
ip addr add $ADDR6/64 dev dum0 nodad 2>/dev/null
rdma link delete rx0
rdma link add rx0 type rxe netdev dum0
touch /tmp/written.on
tap_run "a writer survives a link that was down" wait $writer
tap_run "its data are right" cmp /tmp/random /srv/data/link
before=$(reconnects)
tap_run "it had to connect again" [ "$before" -gt 0 ]

# The device is removed under load, and another one is added.
begin_to_write device
tap_run "the device goes away under load" timeout 60 rdma link delete rx0
tap_run "there is a device again" rdma link add rx0 type rxe netdev dum0
touch /tmp/written.on
tap_run "a writer survives a lost device" wait $writer
tap_run "its data are right too" cmp /tmp/random /srv/data/device
tap_run "it had to connect again, too" [ "$(reconnects)" -gt "$before" ]

# Unloads each side with a dead peer.
stop_server
tap_run "a dead server does not hold the mount" timeout 60 umount -f /mnt/dafs
grep -q ' /mnt/dafs ' /proc/mounts && umount -l /mnt/dafs
tap_run "the client's module unloads" eventually modprobe -q -r dafs
tap_run "fsck of the export" sh -c "umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
