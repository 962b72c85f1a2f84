# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Locks of fcntl(2) and flock(2) between two clients and the server's own programs.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 128
load_modules /srv/data:no_root_squash
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two

# Steps of a random test; more, and other seeds, by hand
STEPS=${LOCK_STEPS:-1500}
SEEDS=${LOCK_SEEDS:-1 2}

for seed in $SEEDS; do
	tap_run "random locks are as the model says, seed $seed" python3 -B \
		"$BED/../posix/locks.py" --seed "$seed" --steps "$STEPS" $D $A $B
done

# lock.py FILE COMMAND...: each command is one character and what follows it:
# r or w: a lock; R or W: likewise, waits; u: unlock; t: who has it; f and F: flock(2);
# pFILE: makes FILE and waits until it is gone; xTEXT: writes it at the start
cat >/tmp/lock.py <<'PY'
import errno, fcntl, os, signal, struct, sys, time
FLOCK = struct.Struct("hhqqi4x")
fd = os.open(sys.argv[1], os.O_RDONLY if sys.argv[2] == "ro" else os.O_RDWR)
def interrupt(*_):
    # else Python would begin the system call again
    raise InterruptedError(errno.EINTR, "")
signal.signal(signal.SIGALRM, interrupt)
def pause(name):
    open(name, "w").close()
    while os.path.exists(name):
        time.sleep(0.05)
def test():
    answer = FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK,
                                      FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0)))
    print({0: "read", 1: "write", 2: "free"}[answer[0]], answer[2], answer[3], answer[4])
for command in sys.argv[2:]:
    try:
        what, rest = command[0], command[1:]
        if command == "ro": continue
        elif what == "r": fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        elif what == "w": fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif what == "b": fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 20)
        elif what == "R": fcntl.lockf(fd, fcntl.LOCK_SH)
        elif what == "W": fcntl.lockf(fd, fcntl.LOCK_EX)
        elif what == "u": fcntl.lockf(fd, fcntl.LOCK_UN)
        elif what == "f": fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif what == "F": fcntl.flock(fd, fcntl.LOCK_EX)
        elif what == "a": signal.alarm(1)
        elif what == "t": test()
        elif what == "p": pause(rest)
        elif what == "x": os.pwrite(fd, rest.encode(), 0)
        elif what == "c": print(os.pread(fd, 100, 0).decode())
        if what in "rwbRWuf": print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
    sys.stdout.flush()
PY

# lock FILE COMMAND...
lock()
{
	python3 -B /tmp/lock.py "$@" | tr '\n' ' ' | sed 's/ $//'
}

# hold NAME FILE COMMAND...: in the background, until release; $! is the process
hold()
{
	rm -f "/tmp/held.$1"
	name=$1
	shift
	python3 -B /tmp/lock.py "$@" "p/tmp/held.$name" >"/tmp/out.$name" &
	eventually [ -e "/tmp/held.$name" ]
}

# release NAME PID
release()
{
	rm "/tmp/held.$1"
	wait "$2"
}

# R-6.5.18-01 R-6.5.19-01: what one client has locked
echo content >$D/file
hold one $A/file w
one=$!
tap_is "$(lock $B/file w r t)" "EAGAIN EAGAIN write 0 0 0" "another client does not lock it"
tap_is "$(lock $D/file r)" EAGAIN "nor does a program of the server"
tap_is "$(lock $A/file r)" EAGAIN "nor another program of the client"
tap_is "$(lock $B/file f)" EAGAIN "nor by flock(2)"
release one $one
tap_is "$(lock $B/file w t u)" "ok free 0 0 0 ok" "unlocked by the end of its program it is free"

# The range and the type of the lock that is in the way
hold one $A/file b
one=$!
tap_is "$(lock $B/file t r)" "write 20 10 0 EAGAIN" "F_GETLK tells of the lock of another client"
release one $one
hold one $D/file r
one=$!
tap_is "$(lock $B/file t w r)" "read 0 0 0 EAGAIN ok" "and of one of the server's programs"
release one $one

# flock(2) by a file that is open for reading only, as flock(1) does of a directory's lock
hold one $A/file ro f
one=$!
tap_is "$(lock $B/file f r)" "EAGAIN EAGAIN" "flock(2) by one client denies another"
tap_is "$(lock $A/file ro r)" ok "but no fcntl(2) of its own"
release one $one
tap_is "$(lock $B/file f)" ok "and is released"

# Waiting for another client
hold one $A/file w
one=$!
python3 -B /tmp/lock.py $B/file W c >/tmp/out.two &
two=$!
sleep 1
tap_is "$(cat /tmp/out.two)" "" "a lock of another client is waited for"
release one $one
tap_run "until it is free" wait $two
tap_is "$(cat /tmp/out.two)" "ok
content" "and then had"
hold one $A/file w
one=$!
tap_is "$(lock $B/file a W t)" "EINTR write 0 0 0" "a signal ends the wait"
python3 -B /tmp/lock.py $B/file W p/tmp/never >/tmp/out.two &
two=$!
python3 -B /tmp/lock.py $A/file W p/tmp/held.three >/tmp/out.three &
three=$!
sleep 1
kill -9 $two
wait $two 2>/dev/null
release one $one
tap_run "a waiter of the same client comes next" eventually [ -e /tmp/held.three ]
release three $three
tap_is "$(lock $A/file w) $(lock $B/file w)" "ok ok" "a waiter that was killed leaves nothing locked"

# A program that is killed
hold one $A/file w
kill -9 $!
wait $! 2>/dev/null
rm -f /tmp/held.one
lock_free()
{
	[ "$(lock $B/file w)" = ok ]
}
tap_run "what a killed program had locked is free" eventually lock_free

# What is written under a lock is read under the next one, at whatever place in a page
hold one $A/file w xfirst___
one=$!
cat $B/file >/dev/null
release one $one
tap_is "$(lock $B/file R c)" "ok first___" "what was written under a lock is read under the next"

# The same by a mapping that has been read before
cat >/tmp/map.py <<'PY'
import fcntl, mmap, os, subprocess, sys
ours, theirs = sys.argv[1:3]
with open(ours, "r+b") as file:
    map = mmap.mmap(file.fileno(), 4096)
    before = map[:3]
    subprocess.run([sys.executable, "-B", "/tmp/lock.py", theirs, "w", "xnew"],
                   check=True, stdout=subprocess.DEVNULL)
    fcntl.lockf(file, fcntl.LOCK_SH)
    print(before.decode(), map[:3].decode())
PY
printf old >$D/mapped
truncate -s 4096 $D/mapped
tap_is "$(python3 -B /tmp/map.py $A/mapped $B/mapped)" "old new" \
	"a mapping shows under a lock what others wrote before"

# What others have appended before the file was locked stays, also beside what is written then.
cat >/tmp/grown.py <<'PY'
import fcntl, os, sys
a, b = (os.open(name, os.O_RDWR | os.O_CREAT) for name in sys.argv[1:3])
os.pwrite(a, b"a" * 100, 0)
os.fsync(a)
os.fstat(a)
fcntl.flock(b, fcntl.LOCK_EX)
os.pwrite(b, b"b" * 104, 4096)
fcntl.flock(b, fcntl.LOCK_UN)
fcntl.flock(a, fcntl.LOCK_EX)
os.pwrite(a, b"a" * 100, 4200)
fcntl.flock(a, fcntl.LOCK_UN)
with open(sys.argv[3], "rb") as file:
    content = file.read()
print(content.count(b"a"), content[4096:4200].count(b"b"), len(content))
PY
tap_is "$(python3 -B /tmp/grown.py $A/grown $B/grown $D/grown)" "200 104 4300" \
	"what was appended before the file was locked is not overwritten"

# Pages beside those that are locked: the client has read all, in large folios
cat >/tmp/pages.py <<'PY'
import fcntl, os, sys
# A process for each mount: closing a file ends all locks of a process on it.
ours = os.open(sys.argv[1], os.O_RDWR)
start, size = int(sys.argv[3]), int(sys.argv[4])
fcntl.lockf(ours, fcntl.LOCK_EX, size, start)
while os.read(ours, 64 << 10):
    pass
if not os.fork():
    theirs = os.open(sys.argv[2], os.O_RDWR)
    fcntl.lockf(theirs, fcntl.LOCK_EX, size, start + size)
    os.pwrite(theirs, b"B" * size, start + size)
    os._exit(0)
os.wait()
os.pwrite(ours, b"A" * size, start)
fcntl.lockf(ours, fcntl.LOCK_UN, size, start)
os.close(ours)
with open(sys.argv[2], "rb") as file:
    fcntl.lockf(file, fcntl.LOCK_SH)
    data = os.pread(file.fileno(), 2 * size, start)
print(data[:size].strip(b"A"), data[size:].strip(b"B"))
PY
for size in 10 4096; do
	dd if=/dev/zero of=$D/pages bs=64k count=64 2>/dev/null
	tap_is "$(python3 -B /tmp/pages.py $A/pages $B/pages $((2560 * 1024)) $size)" "b'' b''" \
		"$size bytes that are written under a lock do not take their neighbours along"
done

# Two users of a client, one of whom may only read
echo content >$D/users
chown 1000:1000 $D/users
chmod 644 $D/users
as_reader()
{
	setpriv --reuid=1001 --regid=1001 --clear-groups "$@"
}
rm -f /tmp/held.one
as_reader python3 -B /tmp/lock.py $A/users ro R c p/tmp/held.one >/tmp/out.one 2>&1 &
one=$!
eventually [ -s /tmp/out.one ]
tap_is "$(setpriv --reuid=1000 --regid=1000 --clear-groups python3 -B /tmp/lock.py $A/users b \
	2>&1)" EAGAIN "the lock of a user who may only read denies the owner's"
kill $one
wait $one 2>/dev/null
rm -f /tmp/held.one
cat >/tmp/two.py <<'PY'
import fcntl, os, sys
def become(user):
    os.setresuid(user, user, 0)
file = sys.argv[1]
become(1001)
reader = os.open(file, os.O_RDONLY)
fcntl.lockf(reader, fcntl.LOCK_SH, 1, 0)
os.seteuid(0)
if os.fork():
    print(os.waitstatus_to_exitcode(os.wait()[1]), os.read(reader, 7).decode())
else:
    become(1000)
    owner = os.open(file, os.O_RDWR)
    fcntl.lockf(owner, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 10)
    fcntl.lockf(owner, fcntl.LOCK_UN, 1, 10)
    os._exit(0)
PY
tap_is "$(python3 -B /tmp/two.py $A/users)" "0 content" \
	"beside a lock of a user who may only read, the owner locks for writing"

# flock(2): both have LOCK_SH, and both want LOCK_EX
cat >/tmp/change.py <<'PY'
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_SH)
open(sys.argv[2], "w").close()
while not os.path.exists(sys.argv[3]):
    time.sleep(0.02)
fcntl.flock(fd, fcntl.LOCK_EX)
print("had it")
PY
for other in $A $B; do
	rm -f /tmp/one.ready /tmp/two.ready
	python3 -B /tmp/change.py $A/file /tmp/one.ready /tmp/two.ready >/tmp/out.one &
	one=$!
	python3 -B /tmp/change.py $other/file /tmp/two.ready /tmp/one.ready >/tmp/out.two &
	two=$!
	tap_run "LOCK_SH becomes LOCK_EX, though another has it, too: one" wait $one
	tap_run "and the other" wait $two
done

# local_lock=
umount $B
for kind in flock posix all; do
	tap_run "local_lock=$kind" mount_dafs data $B clientid=two,local_lock=$kind
	tap_run "is shown" grep -q " $B .*local_lock=$kind" /proc/mounts
	tap_fails "and is not changed by a remount" \
		mount -o remount,local_lock=none $B 2>/dev/null
	hold one $A/file w
	one=$!
	case $kind in
	flock) expected="ok EAGAIN" ;;
	posix) expected="EAGAIN ok" ;;
	all) expected="ok ok" ;;
	esac
	tap_is "$(lock $B/file f r)" "$expected" "the other locks are the server's"
	release one $one
	umount $B
done
tap_fails "a kind that there is not" mount_dafs data $B local_lock=some 2>/dev/null
tap_run "the default" mount_dafs data $B clientid=two

# Requests: one for each lock of the client, none for what it has locked already
# LOCKs and LOCKUs of the first mount
sent()
{
	sed -n "/ on \/mnt\/a /,/^device/s/^[[:space:]]*$1: \([0-9]*\).*/\1/p" \
		/proc/self/mountstats | grep . || echo 0
}
echo 0 >/sys/module/dafsd/parameters/max_delegations
locks=$(sent LOCK) unlocks=$(sent LOCKU)
lock $A/file w u >/dev/null
tap_is "$(($(sent LOCK) - locks)) $(($(sent LOCKU) - unlocks))" "1 1" \
	"a lock and its end are one request each"
hold one $A/file r
one=$!
locks=$(sent LOCK) unlocks=$(sent LOCKU)
lock $A/file r u >/dev/null
tap_is "$(($(sent LOCK) - locks)) $(($(sent LOCKU) - unlocks))" "0 0" \
	"what the client has locked already costs none"
release one $one

# R-4.4.1.2-27: a server that has restarted and does not know its clients any more gives no
# locks back
echo content >$D/file
hold one $A/file r
one=$!
python3 -B /tmp/lock.py $A/file p/tmp/held.two c u c >/tmp/out.two &
two=$!
eventually [ -e /tmp/held.two ]
end_server
rm /tmp/dafs/log.*
modprobe dafsd exports=$D:no_root_squash
lost()
{
	! cat $A/file >/dev/null 2>&1
}
tap_run "after a restart of the server, I/O fails" eventually lost
tap_is "$(lock $A/file r)" EIO "a program that locks it now is told, too"
tap_run "and the log tells why" sh -c "dmesg | grep -q 'does not give locks back'"
release two $two
tap_is "$(tr '\n' ' ' </tmp/out.two)" "EIO ok EIO " "for all programs of the client"
release one $one
tap_is "$(cat $A/file)" "content" "until the file is unlocked"
tap_is "$(lock $A/file w) $(lock $B/file w)" "ok ok" "and then it is locked as ever"

# The server has closed all files of an export.  I/O that goes by another open than the lock
# tells of it, too: a reader has locked the file, and root uses it.
EXPORT=/sys/kernel/config/dafsd/exports/data
mount -t configfs none /sys/kernel/config 2>/dev/null
as_reader python3 -B /tmp/lock.py $A/users ro R p/tmp/held.one >/tmp/out.one &
one=$!
eventually [ -e /tmp/held.one ]
exec 3<>$A/users
tap_run "an export is disabled and enabled" sh -c "echo 0 >$EXPORT/enable && echo 1 >$EXPORT/enable"
reader_lost()
{
	echo data >&3
	! head -c 1 $A/users >/dev/null 2>&1
}
tap_run "a lock that is lost by that is found lost by I/O of others" eventually reader_lost
exec 3>&-
rm /tmp/held.one
wait $one
tap_run "until it is unlocked" head -c 1 $A/users

# SQLite, with its rollback journal, by two clients at once
BANK=$BED/../posix/bank.py
mkdir /tmp/acks
python3 -B "$BANK" make $A/bank.db
python3 -B "$BANK" work $A/bank.db one /tmp/acks/one --count 40 &
one=$!
python3 -B "$BANK" work $B/bank.db two /tmp/acks/two --count 40 &
two=$!
tap_run "SQLite: transactions of one client" wait $one
tap_run "and of another at the same time" wait $two
tap_is "$(python3 -B "$BANK" check $B/bank.db /tmp/acks/*)" "80 transactions" \
	"are all in the database, which is consistent"

# Programs of the shell
count()
{
	for _ in $(seq 25); do
		flock "$1/counter" sh -c "n=\$(cat $1/counter); echo \$((n + 1)) >$1/counter"
	done
}
echo 0 >$A/counter
count $A &
one=$!
count $B &
two=$!
wait $one
wait $two
tap_is "$(cat $D/counter)" 50 "flock(1): no increment of a counter is lost"

# Files that are not closed yet because of a work item have locks, too
no_locks()
{
	cat /sys/fs/dafsd/*/locks >/tmp/locks && ! grep -q -v '^0$' /tmp/locks
}
tap_run "nothing is left locked" eventually no_locks
tap_run "umount" umount $A $B
tap_run "fsck of the export" sh -c "modprobe -r dafs dafsd; umount $D && e2fsck -f -n /dev/ram0"
tap_done
