# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A client loses a delegation with its lease: what it has written under locks that only the
# delegation knew of is not written over what others have written, and its programs are told.
# bed: um
# timeout: 300

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data

start_server()
{
	modprobe dafsd exports=$D:no_root_squash lease=20 "$@"
	echo 0 >/sys/module/dafsd/parameters/delegation_rest
}
start_server
tap_run "a client" mount_dafs data $A clientid=one
# no write-back but for those who ask for it
# 0 would have the flusher look at once
echo 360000 >/proc/sys/vm/dirty_writeback_centisecs

# owe.py FILE READY GO KEEP: writes under a lock, which it keeps or not; at GO tells what becomes
# of that
cat >/tmp/owe.py <<'PY'
import fcntl, os, sys, time
path, ready, go, keep = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX)
os.pwrite(fd, b"ours", 0)
if keep == "unlocks":
    fcntl.lockf(fd, fcntl.LOCK_UN)
open(ready, "w").close()
while not os.path.exists(go):
    time.sleep(0.1)
def tried(call, *args):
    try:
        call(*args)
        return "ok"
    except OSError as error:
        return error.strerror
print(tried(os.fsync, fd), tried(fcntl.lockf, fd, fcntl.LOCK_UN), tried(os.close, fd), sep=", ")
PY
# owe FILE KEEP: in the background, until told
owe()
{
	rm -f /tmp/ready /tmp/go /tmp/out.owe
	python3 -B /tmp/owe.py "$A/$1" /tmp/ready /tmp/go "$2" >/tmp/out.owe &
	ower=$!
	eventually [ -e /tmp/ready ]
}
# told: sets $said to that
told()
{
	touch /tmp/go
	wait $ower
	said=$(cat /tmp/out.owe)
}
is_delegated()
{
	dafsdctl states | grep kind=delegation | grep -q "$1"
}
is_known()
{
	[ -n "$(client one)" ]
}
# written FILE: what the server has, when no program of it can be told of anything
written()
{
	head -c 4 "$D/$1"
}
complaints()
{
	dmesg | grep -c "data written under locks is dropped"
}

# other FILE: a program of the server locks and writes, which takes the delegation from a client
# that does not answer
other()
{
	python3 -B - "$D/$1" <<'PY'
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX)
os.pwrite(fd, b"else", 0)
fcntl.lockf(fd, fcntl.LOCK_UN)
PY
}

LOST="Input/output error"
for keep in unlocks keeps; do
	seq 1 5000 >$D/$keep
	owe $keep $keep
	tap_run "a program writes under a lock that it $keep, by a delegation" is_delegated $keep
	before=$(complaints)
	cut_off
	tap_run "its client is cut off, and others write when its lease has run out" other $keep
	reconnect
	tap_run "the client is back" eventually is_known
	sync
	tap_is "$(written $keep)" else "and does not write what others do not expect"
	case $keep in
	unlocks) want="$LOST, ok, ok" ;;
	keeps)	want="$LOST, ok, " ;;
	esac
	told
	case "$said" in
	"$want"*) tap_is yes yes "the program is told ($said)" ;;
	*)	tap_is "$said" "$want" "the program is told" ;;
	esac
	tap_is "$(written $keep)" else "nor is it written when the file is closed"
	tap_is "$(head -c 4 $A/$keep)" else "or read here"
	[ $keep = keeps ] || tap_is "$(($(complaints) - before))" 1 "the log says so once"
	tap_run "who writes it anew" sh -c \
		"printf anew | dd of=$A/$keep conv=notrunc,fsync status=none"
	tap_is "$(written $keep)" anew "writes it"
done

# R-4.4.1.2-26: without a lease nothing that is cached is relied on, under a lock either.
echo 0 >/sys/module/dafsd/parameters/max_delegations
tap_run "another client" mount_dafs data $B clientid=two,actimeo=3600
cat >/tmp/read.py <<'PY'
import fcntl, os, sys, time
path, ready, go = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX)
print(os.pread(fd, 4, 0))
open(ready, "w").close()
while not os.path.exists(go):
    time.sleep(0.1)
try:
    print(os.pread(fd, 4, 0))
except OSError as error:
    print(error.strerror)
PY
echo ours >$D/cached
rm -f /tmp/ready /tmp/go
python3 -B /tmp/read.py $B/cached /tmp/ready /tmp/go >/tmp/out.read &
reader=$!
eventually [ -e /tmp/ready ]
cut_off
tap_run "others write what it has locked, when its lease has run out" other cached
touch /tmp/go
tap_run "a program that reads it waits" waits_for_server $reader
reconnect
wait $reader
tap_is "$(cat /tmp/out.read)" "b'ours'
$LOST" "and learns that the lock is lost"
umount $B
echo 1000 >/sys/module/dafsd/parameters/max_delegations

# R-4.4.1.6-01: a server that has restarted has given the file to nobody else: nothing is lost
seq 1 5000 >$D/restart
owe restart unlocks
tap_run "a program writes by a delegation" is_delegated restart
end_server
start_server
ours()
{
	[ "$(written restart)" = ours ]
}
tap_run "after a restart of the server it is written" eventually ours
told
tap_is "$said" "ok, ok, ok" "and no program is told of anything"

tap_run "umount" umount $A
tap_run "unload" modprobe -r dafs dafsd
tap_done
