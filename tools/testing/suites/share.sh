# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Share reservations of programs: DAFS_IOC_OPEN_SHARE and tools/dafsshare, between two clients
# and between programs of one, over a restart of the server and the loss of a lease.
# bed: um
# timeout: 500

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
start_server()
{
	modprobe dafsd exports=/srv/data:no_root_squash lease=4
}
start_server
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two
seq 1 5000 >$D/file

# reads FILE, writes FILE: can it be opened?
reads()
{
	(: <"$1") 2>/dev/null && echo yes || echo no
}

writes()
{
	(: >>"$1") 2>/dev/null && echo yes || echo no
}

# opened DIRECTORY: how a program opens the file there, to read and to write
opened()
{
	echo "$(reads "$1/file") $(writes "$1/file")"
}

# reserved OPTION...: hold the reservation, by one client, until release
reserved()
{
	hold dafsshare "$@" $A/file
}

# --- programs ---

tap_is "$(said dafsshare $A/file echo shared)" "shared
0" "a command runs with the reservation"
tap_is "$(said dafsshare $A/file sh -c 'exit 7')" 7 "and says how it ends"
tap_is "$(: >/tmp/file; said dafsshare /tmp/file true)" \
	"dafsshare: /tmp/file: this is not a file of a DAFS mount
2" "not of another file system"
tap_is "$(said dafsshare $A/none true)" "dafsshare: $A/none: No such file or directory
2" "nor of a file that is not there"
tap_is "$(said dafsshare --deny all $A/file true | tail -1; said dafsshare $A/file | tail -1
	said dafsshare --key -1 $A/file true | tail -1)" "2
2
2" "nor with wrong arguments"
tap_is "$(said dafsshare $A/file /none)" "dafsshare: /none: No such file or directory
2" "nor without a command"
tap_is "$(opened $A) $(opened $B)" "yes yes yes yes" "which leaves nothing behind"
# shellcheck disable=SC2016
tap_is "$(dafsshare $A/file sh -c 'head -n 1 /proc/self/fd/$DAFSSHARE_FD')" 1 \
	"the command has the file"
# shellcheck disable=SC2016
tap_is "$(said dafsshare --access both --deny both $A/file \
	sh -c 'echo first >&$DAFSSHARE_FD')" 0 "and writes it"
tap_is "$(head -n 1 $B/file)" first "when nobody else may"

reserved --deny both
kill "$(pgrep -f 'dafsshare --deny both' | head -1)"
wait $holder
tap_is "$?" 143 "SIGTERM ends the command"
tap_run "and the reservation" eventually dafsshare --deny none $B/file true
tap_is "$(said dafsshare --help | tail -1; said dafslock -h | tail -1)" "0
0" "what the programs say of themselves"

cat >/tmp/ioctl.py <<'PY'
import errno, fcntl, os, struct, sys
SHARE = 0xDA << 8 | 1
def call(fd, data, number=SHARE):
    try:
        fcntl.ioctl(fd, number, data)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def share(fd, size=24, flags=0, access=1, deny=0, key=0, more=b""):
    return call(fd, struct.pack("=IIIIQ", size, flags, access, deny, key) + more)
def anew(mode=os.O_RDWR):
    return os.open(sys.argv[1], mode)
both = anew()
read, write = anew(os.O_RDONLY), anew(os.O_WRONLY)
print(share(both, size=23), share(both, size=32, more=bytes(7) + b"x"), share(both, size=1 << 20))
print(share(both, flags=2), share(both, access=0), share(both, access=4), share(both, deny=4),
      share(both, key=1))
print(share(read, access=2), share(write, access=1), share(read, access=3), call(both, 8),
      call(os.open("/etc/passwd", os.O_RDONLY), bytes(24)))
print(share(both, deny=1), share(both, deny=2), share(both, deny=3))
os.close(read)
print(share(both, access=3, deny=1), share(both, size=32, access=3, more=bytes(8)))
PY
tap_is "$(python3 -B /tmp/ioctl.py $A/file)" "EINVAL E2BIG E2BIG
EINVAL EINVAL EINVAL EINVAL EINVAL
EBADF EBADF EBADF EFAULT ENOTTY
EBUSY EBUSY EBUSY
ok EALREADY" "what the ioctl does not understand, and refuses"
tap_is "$(opened $A) $(opened $B)" "yes yes yes yes" "it leaves nothing behind either"

# --- each kind of conflict, with the other client and with programs of the same ---

# held ACCESS DENY: how the file can be opened, here and there, meanwhile
held()
{
	reserved --access "$1" --deny "$2"
	echo "$(opened $A), $(opened $B)"
	release
}
for access in read write both; do
	tap_is "$(held $access none)" "yes yes, yes yes" "who may $access denies nothing"
	tap_is "$(held $access read)" "no yes, no yes" "or to read"
	tap_is "$(held $access write)" "yes no, yes no" "or to write"
	tap_is "$(held $access both)" "no no, no no" "or both"
	tap_is "$(opened $A), $(opened $B)" "yes yes, yes yes" "until it is closed"
done

# used FILE MODE: tells which reservations are refused while the file is open so
used()
{
	python3 -B - "$1" "$2" $A/file <<'PY'
import os, subprocess, sys
fd = os.open(sys.argv[1], int(sys.argv[2]))
print(*(subprocess.call(["dafsshare", "--deny", deny, sys.argv[3], "true"])
        for deny in ("none", "read", "write", "both")))
PY
}
for there in $A $B; do
	tap_is "$(used $there/file 0)" "0 1 0 1" "a reader cannot be denied, $there"
	tap_is "$(used $there/file 1)" "0 0 1 1" "nor a writer, $there"
	tap_is "$(used $there/file 2)" "0 1 1 1" "nor one who does both, $there"
done

# two readers, each of which keeps writers out
reserved --deny write
tap_is "$(said dafsshare --deny write $A/file true; said dafsshare --deny write $B/file true)" "0
0" "others may deny the same"
tap_is "$(said dafsshare --access write --deny none $A/file true
	said dafsshare --access write --deny none $B/file true)" "1
1" "and are told what is denied to them"
tap_is "$(said truncate -c -s 1 $A/file | tail -1; said truncate -c -s 1 $B/file | tail -1)" "1
1" "nobody truncates it"
tap_is "$(python3 -B -c "import os; os.truncate('$A/file', 1)" 2>&1 | tail -1 | cut -d: -f1)" \
	BlockingIOError "not by its name either"
tap_is "$(opened $A), $(opened $B)" "yes no, yes no" "one that has ended takes nothing along"
release
tap_is "$(opened $A), $(opened $B)" "yes yes, yes yes" "all have ended"

# --- the description: shared by fork and dup, until the last close ---

cat >/tmp/dup.py <<'PY'
import fcntl, os, struct, sys, time
path = sys.argv[1]
def opens():
    try:
        os.close(os.open(path, os.O_WRONLY))
        return "open"
    except PermissionError:
        return "denied"
def reserve():
    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, 0xDA << 8 | 1, struct.pack("=IIIIQ", 24, 0, 1, 2, 0))
    return fd
fd = reserve()
again = os.dup(fd)
os.close(fd)
print(opens(), end=" ")
go, done = os.pipe()
if not os.fork():
    os.close(done)
    os.read(go, 1)
    os._exit(0)
os.close(again)
print(opens(), end=" ")
os.close(done)
os.wait()
print(opens(), end=" ")
one, two = reserve(), reserve()
os.close(one)
print(opens(), end=" ")
os.close(two)
print(opens())
PY
tap_is "$(python3 -B /tmp/dup.py $A/file)" "denied denied open denied open" \
	"the last descriptor of the last process ends it"

# --- keys ---

tap_is "$(said dafsshare --key 7 --deny none $A/file dafsshare --key 7 $B/file true)" 0 \
	"the same key"
tap_is "$(said dafsshare --key 7 --deny none $A/file dafsshare --key 8 --deny none $B/file true
	said dafsshare --key 7 --deny none $A/file dafsshare --key 8 --deny none $A/file true)" \
	"dafsshare: $B/file: Key was rejected by service
3
dafsshare: $A/file: Key was rejected by service
3" "another one, of another client and of the same"
tap_is "$(said dafsshare --key 7 --deny none $A/file dafsshare --deny none $B/file true)" 0 \
	"no key is no conflict"
tap_is "$(said dafsshare --key 0 --deny none $A/file dafsshare --key 18446744073709551615 \
	--deny none $B/file true | tail -1)" 3 "0 is a key, too"
tap_is "$(said dafsshare --key 7 --deny none $A/file true
	said dafsshare --key 8 --deny none $A/file true)" "0
0" "none is left behind"
umount $B
tap_run "a mount with a key" mount_dafs data $B clientid=two,share_key=7
tap_is "$(said dafsshare --key 7 --deny none $A/file cat $B/file | tail -1)" 0 "opens with that"
tap_is "$(said dafsshare --key 8 --deny none $A/file cat $B/file | tail -1)" 1 "and no other"
tap_is "$(said dafsshare --key 8 --deny none $B/file true | tail -1)" 3 \
	"nor may its programs have another"
umount $B
tap_run "the other client again" mount_dafs data $B clientid=two

# --- delegations ---

# A file that is opened for both is delegated for writing: programs open it without the server,
# and it stays open there when they have closed it.
REST=/sys/module/dafsd/parameters/delegation_rest
echo 0 >$REST

is_delegated()
{
	(: <>"$1")
	dafsdctl states | grep -q kind=delegation
}

# delegate FILE: leaves a delegation of it, and tells how many there are.  The file of the last
# one is closed in the background, and counts as open until then.
delegate()
{
	eventually is_delegated "$1"
	dafsdctl states | grep -c kind=delegation
}
tap_is "$(delegate $A/file)" 1 "a file is delegated"
reserved --deny write
tap_is "$(opened $A), $(opened $B)" "yes no, yes no" "which is denied at the server all the same"
release
delegate $A/file >/dev/null
exec 3<>$A/file
tap_is "$(said dafsshare --deny write $A/file true)" 1 "who has it by a delegation is not overlooked"
exec 3>&-
tap_is "$(delegate $A/file)" 1 "it is delegated again"
tap_is "$(said dafsshare --deny both $A/file true)" 0 "which is no user of it"
tap_is "$(delegate $B/file)" 1 "another client has the delegation"
reserved --deny both --access both
tap_is "$(opened $A), $(opened $B)" "no no, no no" "which is recalled"
release
delegate $A/file >/dev/null
tap_is "$(said dafsshare --access both --deny both $A/file true; said truncate -s 1 $B/file)" "0
0" "what has ended with a delegation has ended at the server"
echo 10 >$REST

# --- the program is killed ---

is_free()
{
	[ "$(opened $A), $(opened $B)" = "yes yes, yes yes" ]
}
reserved --access both --deny both
kill -9 $holder
wait $holder 2>/dev/null
tap_is "$(opened $A), $(opened $B)" "no no, no no" "if dafsshare is killed, its command goes on"
pkill -9 -f /tmp/held
tap_run "until it is killed, too" eventually is_free

# --- the server restarts: the reservation is reclaimed, and holds ---

grace_over()
{
	[ "$(cat /sys/module/dafsd/parameters/grace)" = 0 ]
}
cat >/tmp/keep.py <<'PY'
"""keep.py FILE READY GO: reads and writes under a reservation, now and when GO exists."""
import fcntl, os, struct, sys, time
path, ready, go = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
fcntl.ioctl(fd, 0xDA << 8 | 1, struct.pack("=IIIIQ", 24, 1, 3, 3, 7))
os.pwrite(fd, b"once", 0)
os.fsync(fd)
open(ready, "w").close()
while not os.path.exists(go):
    time.sleep(0.1)
def tried(what, *args):
    try:
        what(*args)
        return "ok"
    except OSError as error:
        return error.strerror
print(tried(os.pread, fd, 4, 0), tried(os.pwrite, fd, b"more", 0), tried(os.fsync, fd),
      tried(os.close, fd), sep=", ")
PY
keep()
{
	rm -f /tmp/ready /tmp/go /tmp/kept
	python3 -B /tmp/keep.py $A/file /tmp/ready /tmp/go >/tmp/kept &
	eventually [ -e /tmp/ready ]
}
kept()
{
	touch /tmp/go
	# it is called in a shell of its own, which cannot wait for a job of this one
	eventually [ -s /tmp/kept ]
	cat /tmp/kept
}
# R-4.4.1.6-03
keep
end_server
start_server
tap_is "$(opened $A), $(opened $B)" "no no, no no" "after a restart of the server it is denied still"
tap_run "the grace period ends" eventually grace_over
tap_is "$(opened $A), $(opened $B)" "no no, no no" "also after that"
tap_is "$(kept)" "ok, ok, ok, ok" "who has the reservation goes on"
tap_is "$(head -c 4 $B/file)" more "and what it writes is there"
# R-4.4.2-01
reserved --key 7 --deny none
end_server
start_server
tap_is "$(said dafsshare --key 8 --deny none $B/file true | tail -1
	said dafsshare --key 7 --deny none $B/file true)" "3
0" "so does the key"
release

# What has ended is not reclaimed, although the open is: another program uses it.
exec 3<$A/file
exec 4<$A/file
reserved --deny write
release
end_server
start_server
tap_is "$(writes $A/file) $(writes $B/file)" "yes yes" "what has ended is not reclaimed"
exec 3<&- 4<&-

# --- the reservation is lost ---

LOST="Input/output error"
keep
former=$(client one)
tap_run "the lease of the client ends" dafsdctl expire "$former"
tap_run "it comes back" eventually is_back one "$former"
tap_is "$(kept)" "$LOST, $LOST, $LOST, $LOST" "who has lost the reservation is told"
tap_run "and keeps nobody out" eventually is_free

# lapse: the client loses its lease; it may take some time until it notices
lapse()
{
	former=$(client one)
	cut_off
	dafsdctl expire "$former"
	reconnect
}

# nor is it any better if others had the file only for a moment
keep
lapse
tap_run "others have the file meanwhile" eventually sh -c "echo other >>$B/file"
tap_run "it comes back again" eventually is_back one "$former"
tap_is "$(kept)" "$LOST, $LOST, $LOST, $LOST" "it does not go on silently"
tap_is "$(tail -c 6 $B/file)" other "nor change what others have written"
tap_is "$(said dafsshare --access both --deny both $A/file true)" 0 "a new open has a new one"

# What is in the cache by then is not written through another open of the same user either.
cat >/tmp/dirty.py <<'PY'
"""dirty.py FILE READY GO STEP: stores under a reservation, closes at GO, unmaps at STEP."""
import fcntl, mmap, os, struct, sys, time
path, ready, go, step = sys.argv[1:]
def until(name):
    while not os.path.exists(name):
        time.sleep(0.1)
fd = os.open(path, os.O_RDWR)
fcntl.ioctl(fd, 0xDA << 8 | 1, struct.pack("=IIIIQ", 24, 0, 3, 2, 0))
pages = mmap.mmap(fd, 16384)
os.pwrite(fd, b"lost", 0)
pages[8192:8196] = b"lost"
open(ready, "w").close()
until(go)
for end in os.fsync, os.close:
    try:
        end(fd)
    except OSError as error:
        print(error.strerror, flush=True)
until(step)
PY
# stored: what the server has where the program has stored something
stored()
{
	echo "$(head -c 4 $D/file) $(tail -c +8193 $D/file | head -c 4)"
}
put_all()
{
	printf else | dd of=$B/file conv=notrunc,fsync status=none &&
		printf else | dd of=$B/file conv=notrunc,fsync status=none bs=4096 seek=2
}
put_eventually()
{
	until put_all 2>/dev/null; do
		sleep 0.5
	done
}
# no write-back but for those who ask for it: not by time, nor because others look at the file.
# 0 would have the flusher look at once, and find too much for a mount that has written little.
echo 360000 >/proc/sys/vm/dirty_writeback_centisecs
echo 0 >/sys/module/dafsd/parameters/max_delegations
seq 1 5000 >$B/file
tap_run "both clients agree" put_all
rm -f /tmp/ready /tmp/go /tmp/step
python3 -B /tmp/dirty.py $A/file /tmp/ready /tmp/go /tmp/step >/tmp/said &
dirty=$!
tap_run "a program stores, and a mapping has it" eventually [ -e /tmp/ready ]
tap_is "$(stored)" "else else" "which is not written yet"
lapse
tap_run "others write the file meanwhile" put_eventually
tap_run "it comes back once more" eventually is_back one "$former"
tap_run "another program of the user opens it" sh -c ": <>$A/file" 2>/dev/null
sync
tap_is "$(stored)" "else else" "and does not write what was stored in reliance on what is lost"
touch /tmp/go
tap_run "the program is told" eventually sh -c "[ \$(grep -c '$LOST' /tmp/said) = 2 ]"
(: <>$A/file) 2>/dev/null
sync
tap_is "$(stored)" "else else" "nor is it written when it has closed the file"
touch /tmp/step
wait $dirty
(: <>$A/file)
sync
tap_is "$(stored)" "else else" "nor when nothing of it is mapped"
tap_is "$(head -c 4 $A/file) $(tail -c +8193 $A/file | head -c 4)" "else else" "or read here"
tap_run "who opens it anew writes it" sh -c \
	"printf anew | dd of=$A/file conv=notrunc,fsync status=none"
tap_is "$(stored)" "anew else" "at the server"

tap_run "umount" umount $A $B
tap_run "unload" modprobe -r dafs dafsd
tap_done
