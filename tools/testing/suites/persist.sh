# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# PERSIST locks from programs: DAFS_IOC_LOCK, tools/dafslock, and what others find when the
# owner of such a lock is lost.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
modprobe dafsd exports=/srv/data:no_root_squash lease=4
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two
seq 1 5000 >$D/file

# try OPTION...: does the other client get the lock?
try()
{
	said dafslock --nonblock "$@" $B/file true | tail -1
}

# locked OPTION...: hold the lock, by one client, until release
locked()
{
	hold dafslock "$@" $A/file
}

is_free()
{
	[ "$(try)" = 0 ]
}

# --- programs ---

tap_is "$(said dafslock $A/file echo locked)" "locked
0" "a command runs with the lock"
tap_is "$(said dafslock --persist $A/file sh -c 'exit 7')" 7 "and says how it ends"
tap_is "$(: >/tmp/file; said dafslock /tmp/file true)" \
	"dafslock: /tmp/file: this is not a file of a DAFS mount
2" "not of another file system"
tap_is "$(said dafslock $A/none true)" "dafslock: $A/none: No such file or directory
2" "nor of a file that is not there"
tap_is "$(said dafslock --start -1 $A/file true | tail -1; said dafslock $A/file | tail -1
	said dafslock --length 9223372036854775808 $A/file true | tail -1)" "2
2
2" "nor with wrong arguments"
tap_is "$(said dafslock $A/file /none)" "dafslock: /none: No such file or directory
2" "nor without a command"
tap_is "$(try)" 0 "which leaves no lock behind"

# R-4.4.1.3-08
locked --persist --length 100
tap_is "$(try)" 1 "others do not get what is locked"
tap_is "$(said dafslock --nonblock -E 77 $B/file true)" 77 "and say so as they are told to"
tap_is "$(try --start 100)" 0 "but the rest"
tap_is "$(try --repair)" 1 "and repair nothing that is not broken"
tap_is "$(said dafslock --nonblock --shared $A/file true | tail -1)" 1 \
	"nor do programs of the same client"
tap_is "$(said flock -n $B/file true)" 1 "nor with flock(1)"
release
tap_is "$(try)" 0 "until the command has ended"
locked --persist --shared
tap_is "$(try --shared --persist)" 0 "two may read"
tap_is "$(try)" 1 "and none writes"
release
dafslock --persist $A/file sh -c 'touch /tmp/locked; sleep 2; echo first >>/tmp/order' &
eventually [ -e /tmp/locked ]
timeout 60 dafslock --persist $B/file sh -c 'echo second >>/tmp/order'
wait
tap_is "$(cat /tmp/order)" "first
second" "who waits gets it in the end"
locked --persist
kill -9 $holder
wait $holder 2>/dev/null
tap_is "$(try)" 1 "if dafslock is killed, its command has the lock"
rm -f /tmp/held
tap_run "until it has ended" eventually is_free


# R-4.4.1.3-08: what other programs of the machine lock takes nothing from the lock
locked --persist --shared --length 100
flock $A/file true
tap_is "$(try; try --shared)" "1
0" "a program of the machine with flock(1) weakens nothing"
release

cat >/tmp/ioctl.py <<'PY'
import errno, fcntl, os, struct, sys
LOCK = 0xDA << 8
def call(fd, data, number=LOCK):
    try:
        fcntl.ioctl(fd, number, data)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def lock(fd, size=32, kind=2, flags=0, reserved=0, start=0, length=0, more=b""):
    return call(fd, struct.pack("=IIIIQQ", size, kind, flags, reserved, start, length) + more)
both = os.open(sys.argv[1], os.O_RDWR)
read = os.open(sys.argv[1], os.O_RDONLY)
write = os.open(sys.argv[1], os.O_WRONLY)
print(lock(both), lock(both, kind=3))
print(lock(both, size=31), lock(both, size=40, more=bytes(8)),
      lock(both, size=40, more=bytes(7) + b"x"), lock(both, size=1 << 20))
print(lock(both, kind=0), lock(both, kind=5), lock(both, flags=16), lock(both, kind=3, flags=2),
      lock(both, reserved=1))
print(lock(read), lock(write, kind=1), lock(both, start=1 << 63),
      lock(both, start=2, length=(1 << 63) - 1), lock(both, start=1, length=(1 << 63) - 1))
print(lock(read, kind=1, flags=2), lock(read, kind=1, flags=4))
print(call(both, 0, LOCK + 9), call(both, 8), call(os.open("/etc/passwd", os.O_RDONLY), bytes(32)))
PY
tap_is "$(python3 -B /tmp/ioctl.py $A/file)" "ok ok
EINVAL ok E2BIG E2BIG
EINVAL EINVAL EINVAL EINVAL EINVAL
EBADF EBADF EOVERFLOW EOVERFLOW ok
EBADF EBADF
ENOTTY EFAULT ENOTTY" "what the ioctl does not understand"
umount $B
tap_run "a mount that keeps locks to itself" mount_dafs data $B clientid=two,local_lock=all
none_such="the server has no such locks for this file, or local_lock of the mount keeps locks to this \
machine"
tap_is "$(said dafslock --persist $B/file true)" "dafslock: $B/file: $none_such
2" "has none that survives"
umount $B
tap_run "the other client again" mount_dafs data $B clientid=two

# --- the client is cut off, or the server restarts: the owner gets its lock back ---

# R-4.4.1.5-01
locked --persist --length 100
former=$(client one)
tap_is "$(said dafsdctl forget "$(dafsdctl persist | grep -oE '^id=[0-9]+' | cut -d = -f 2)")" \
	"dafsdctl: its owner has the lock: expire the client first
1" "the administrator does not forget a lock that its owner has"
tap_run "its lease runs out" dafsdctl expire "$former"
tap_run "it comes back" eventually is_back one "$former"
tap_is "$(head -c 3 $A/file | tail -c 1; dd if=/dev/zero of=$A/file bs=1 count=1 conv=notrunc 2>&1 |
	grep -c error)" "20" "and reads and writes what it has locked"
tap_is "$(try)" 1 "which nobody else can lock"
# R-6.5.18-02
end_server
modprobe dafsd exports=/srv/data:no_root_squash lease=4
tap_is "$(head -c 3 $A/file | tail -c 1)" 2 "so it does when the server has restarted"
tap_run "the grace period ends" eventually sh -c \
	'[ "$(cat /sys/module/dafsd/parameters/grace)" = 0 ]'
tap_is "$(try)" 1 "and has its lock"
release
tap_is "$(try)" 0 "until it has unlocked"

# --- the client is lost ---

# persists: the list of the administrator, without names and numbers
persists()
{
	dafsdctl persist | tr ' ' '\n' | grep -E '^(state|start|end|write)' | sort -r | xargs |
		sed 's/write state=\([a-z]*\) \(start=[0-9]*\) \(end=[0-9-]*\)/\1 \2 \3 write/g'
}

# lose CLIENT-ID: the machine of the client crashes, as far as the server can see
lose()
{
	crash $A
	reconnect
	dafsdctl expire "$1"
}

is_broken()
{
	[ "$(try)" = 3 ]
}

locked --persist --start 100 --length 100
former=$(client one)
lose "$former"
tap_run "a lock whose owner is lost is broken" eventually is_broken
tap_is "$(said dafslock --nonblock $B/file true)" \
	"dafslock: $B/file: the lock is broken, see --repair
3" "and says so"
tap_is "$(try --length 100; try --start 200)" "0
0" "what was not locked is not broken"
cat >/tmp/fcntl.py <<'PY'
import errno, fcntl, os, struct, sys
FLOCK = struct.Struct("hhqqi4x")
fd = os.open(sys.argv[1], os.O_RDWR)
def call(function, *args):
    try:
        function(*args)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
kind, _, start, length, pid = FLOCK.unpack(
    fcntl.fcntl(fd, fcntl.F_GETLK, FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0)))
print("lockf", call(fcntl.lockf, fd, fcntl.LOCK_EX), "getlk", kind, start, length, pid)
direct = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT | os.O_APPEND)
print("pread", call(os.pread, fd, 10, 95), call(os.pread, fd, 10, 200), call(os.pread, fd, 10, 12288),
      "truncate", call(os.ftruncate, fd, 150))
print("append", call(os.write, direct, b"x"))
PY
# R-4.4.1.3-05: with an open; the client does not take it for a restart of the server
tap_is "$(timeout 60 python3 -B /tmp/fcntl.py $B/file)" "lockf EOWNERDEAD getlk 1 100 100 0
pread EOWNERDEAD ok ok truncate EOWNERDEAD
append ok" "nor is it read, or cut off"
tap_run "nor locked by flock(2), which says why" sh -c \
	"! flock -n $B/file true 2>/tmp/why && grep -q 'Owner died' /tmp/why"
tap_is "$(persists)" "broken start=100 end=199 write" "the administrator sees it"
mount -t configfs none /sys/kernel/config 2>/dev/null
# where: the file, as the list has it
where()
{
	dafsdctl persist | grep -oE '(export|ino|path)=[^ ]*' | xargs
}
tap_is "$(where)" "export=data ino=$(stat -c %i $D/file) path=$D/file" "and in which file"
tap_run "as the log says, which has the number of the record" sh -c \
	"dmesg | grep -q 'record $(dafsdctl persist | grep -oE '^id=[0-9]+' | cut -d = -f 2): a lock of'"
tap_is "$(said dafsdctl forget 123456; said dafsdctl forget x; said dafsdctl persist 1)" \
	"dafsdctl: there is nothing by this id
1
dafsdctl: 'x' is not the number of a record
1
dafsdctl: '1' is not an id of 16 hexadecimal digits
1" "and forgets only what there is"
tap_is "$(said timeout 60 dd if=/dev/zero of=$B/file oflag=direct bs=1 seek=150 count=1 \
	conv=notrunc | head -1 | sed 's/.*: //')" "Owner died" "nor written"
# R-4.4.1-01 R-4.4.1.3-01
end_server
modprobe dafsd exports=/srv/data:no_root_squash lease=4
tap_run "a restart of the server does not change that" eventually is_broken
tap_is "$(said dafslock --nonblock --repair --start 150 $B/file true | tail -2)" \
	"dafslock: $B/file: what is broken reaches beyond these bytes: repair all of it
2" "a part of it is not repaired"
tap_is "$(said timeout 60 dafslock --repair --persist $B/file sh -c \
	"printf good | dd of=$B/file bs=1 seek=150 conv=notrunc 2>/dev/null")" 0 \
	"who takes it over repairs the file"
tap_is "$(try; dd if=$D/file bs=1 skip=150 count=4 2>/dev/null)" "0
good" "and it is a lock as any other"

# The machine is back before its lease has run out; it has another verifier then
unload()
{
	modprobe -r dafs 2>/dev/null
}
tap_run "the one client again" mount_dafs data $A clientid=one
locked --persist
umount $B
crash $A
tap_run "nothing of it is left" eventually unload
reconnect
modprobe dafs
tap_run "a client that was lost is back" mount_dafs data $A clientid=one
tap_is "$(said dafslock --nonblock $A/file true | tail -1)" 3 "it finds its lock broken"
tap_is "$(said timeout 60 dafslock --repair $A/file true)" 0 "and repairs what it has left"
tap_run "the other client again" mount_dafs data $B clientid=two

# R-4.4.1.3-02: nobody has asked for it before who repairs it
locked --persist
former=$(client one)
lose "$former"
tap_run "the client is gone" eventually sh -c "! dafsdctl clients | grep -q one"
tap_is "$(said dafslock --repair --nonblock $B/file true)" 0 "it is repaired by the first one to come"
tap_run "the one client again" mount_dafs data $A clientid=one

# what nobody is going to repair
locked --persist
former=$(client one)
lose "$former"
tap_run "once more, a lock is broken" eventually is_broken
tap_run "the administrator forgets it" dafsdctl forget \
	"$(dafsdctl persist | grep -oE '^id=[0-9]+' | cut -d = -f 2)"
tap_is "$(dafsdctl persist; try)" 0 "and nothing is left of it"
tap_run "the one client, once more" mount_dafs data $A clientid=one

# a file that is removed takes its locks along
locked --persist
former=$(client one)
lose "$former"
tap_run "again, a lock is broken" eventually is_broken
rm $B/file
seq 1 5000 >$B/file
tap_is "$(try)" 0 "a new file of that name has none"

tap_run "umount" umount $B
tap_run "unload" modprobe -r dafs dafsd
tap_done
