# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Delegations: what a client does without the server, and what others see of it.
# bed: um
# timeout: 480

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"
# shellcheck source=tools/testing/bed/requests.sh
. "$BED/requests.sh"

setup_rxe
make_backing /srv/data 256
make_backing /srv/conf 32
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data

start_server()
{
	modprobe dafsd exports=$D:no_root_squash "$@"
}

start_server
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two

read_it()
{
	cat $A/file >/dev/null
}

# R-6.5.24-21: the client opens the file by its delegation, and revalidates nothing
echo first >$D/file
read_it
requests read_it
tap_is "$(asked OPEN)" 1 "the second open of a file asks the server"
read_it
requests read_it
tap_is "$(asked .)" 0 "a later one does not"
sleep 4
requests stat $A/file >/dev/null
tap_is "$(asked .)" 0 "nor does stat(1), however old the attributes are"
echo other >$D/undelegated
stat $A/undelegated >/dev/null
sleep 4
requests stat $A/undelegated >/dev/null
tap_is "$(asked GETATTR)" 1 "of a file that is not delegated it does"

# What others do
echo second >$B/file
tap_is "$(cat $A/file)" second "what another client has written is read"
tap_is "$(cat $B/file)" second "by both"
echo 1 >$D/local
for _ in 1 2 3; do cat $A/local >/dev/null; done
exec 7<$A/local
echo 2 >$D/local
tap_is "$(cat <&7)" 2 "a program of the server has written: a file that is open is read anew"
exec 7<&-
# its own change hides that of another client, before the file is delegated
cat >/tmp/hidden.py <<'PY'
import os, subprocess, sys
mine, other = sys.argv[1:]
fd = os.open(mine, os.O_RDWR)
os.pread(fd, 20000, 0)
subprocess.run(f"printf x | dd of={other} bs=1 seek=9000 conv=notrunc 2>/dev/null",
               shell=True, check=True)
os.pwrite(fd, b"y", 0)
os.close(fd)
for _ in range(3):
    fd = os.open(mine, os.O_RDONLY)
    os.pread(fd, 1, 0)
    os.close(fd)
fd = os.open(mine, os.O_RDONLY)
print(os.pread(fd, 1, 9000).decode())
PY
REST=/sys/module/dafsd/parameters/delegation_rest
rest=$(cat $REST)
echo 0 >$REST
printf '%020000d' 0 >$D/hidden
tap_is "$(python3 -B /tmp/hidden.py $A/hidden $B/hidden)" x \
	"what another client has written before the file was delegated is read"
tap_run "and it is delegated" sh -c "dafsdctl states | grep kind=delegation | grep -q hidden"
echo "$rest" >$REST
echo 3 >$D/gone
for _ in 1 2 3; do cat $A/gone >/dev/null; done
mv $D/gone $D/moved
tap_is "$(cat $A/gone 2>&1 | sed 's/.*: //') $(cat $A/moved)" "No such file or directory 3" \
	"a program of the server has renamed it"
for _ in 1 2 3; do cat $A/moved >/dev/null; done
rm $B/moved
tap_is "$(cat $A/moved 2>&1 | sed 's/.*: //')" "No such file or directory" \
	"another client has removed it"
echo 4 >$D/mode
for _ in 1 2 3; do cat $A/mode >/dev/null; done
chmod 0 $D/mode
tap_is "$(stat -c %a $A/mode)" 0 "a program of the server has changed the mode"
echo 5 >$D/another
for _ in 1 2 3; do cat $A/another >/dev/null; done
chmod 600 $B/another
tap_is "$(stat -c %a $A/another)" 600 "another client has changed the mode"

# file.py FILE COMMAND...: opens FILE for reading and writing, then: l and u: locks, unlocks;
# L: locks, and waits for that;
# r: reads and writes what there is; wTEXT: writes it at the start; aTEXT: at the end;
# pNAME: makes NAME and waits until it is gone; s: size
cat >/tmp/file.py <<'PY'
import errno, fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
for command in sys.argv[2:]:
    what, rest = command[0], command[1:]
    try:
        if what == "l": fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif what == "L": fcntl.lockf(fd, fcntl.LOCK_EX)
        elif what == "u": fcntl.lockf(fd, fcntl.LOCK_UN)
        elif what == "r": print(os.pread(fd, 100, 0).decode().strip())
        elif what == "w": os.pwrite(fd, rest.encode(), 0)
        elif what == "a": os.pwrite(fd, rest.encode(), os.fstat(fd).st_size)
        elif what == "s": print(os.fstat(fd).st_size)
        elif what == "p":
            open(rest, "w").close()
            while os.path.exists(rest): time.sleep(0.05)
        if what in "lL": print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
    sys.stdout.flush()
PY

# file FILE COMMAND...
file()
{
	python3 -B /tmp/file.py "$@" | tr '\n' ' ' | sed 's/ $//'
}

# hold FILE COMMAND...: in the background, until release
hold()
{
	rm -f /tmp/held
	python3 -B /tmp/file.py "$@" p/tmp/held l >/tmp/out.held &
	holder=$!
	eventually [ -e /tmp/held ]
}

release()
{
	rm /tmp/held
	wait $holder
}

# A file that is open for both is delegated for writing: programs lock it among themselves
lock_often()
{
	python3 -B /tmp/file.py $A/db l u l u l u >/dev/null
}
echo db >$D/db
requests lock_often
tap_is "$(asked LOCK)" 0 "locks are set without the server"
lock_often
requests lock_often
tap_is "$(asked .)" 0 "and nothing else is asked, once it has been opened"
cat >/tmp/stronger.py <<'PY'
import errno, fcntl, sys
def lock(file, how):
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
first, second, third = (open(sys.argv[1], "r+b") for _ in range(3))
print(lock(first, fcntl.LOCK_SH), lock(second, fcntl.LOCK_SH), lock(first, fcntl.LOCK_EX))
second.close()
print(lock(third, fcntl.LOCK_EX), lock(first, fcntl.LOCK_EX))
PY
tap_is "$(python3 -B /tmp/stronger.py $A/db)" "ok ok EAGAIN
EAGAIN ok" "a lock of flock(2) that cannot be made stronger stays"
hold $A/db l
tap_is "$(file $A/db l)" EAGAIN "a program of the client does not get the lock of another"
python3 -B /tmp/file.py $A/db L >/tmp/out.waits &
waits=$!
tap_is "$(file $B/db l)" EAGAIN "nor does another client"
tap_is "$(file $D/db l)" EAGAIN "nor a program of the server"
release
tap_is "$(cat /tmp/out.held)" "ok
ok" "the one that has it goes on"
wait $waits
tap_is "$(cat /tmp/out.waits)" ok "and one that waits for it gets it"
tap_is "$(file $B/db l)" ok "and unlocks it for others"

# Nothing is written back for its age, or because a mount has more than its share of what may be
# dirty: that is nothing for one that has written little.
writeback=$(cat /proc/sys/vm/dirty_writeback_centisecs)
no_writeback()
{
	echo 0 >/proc/sys/vm/dirty_writeback_centisecs
	for share in /sys/class/bdi/dafs-*/min_ratio; do
		echo 10 >"$share"
	done
}
writeback_again()
{
	echo "$writeback" >/proc/sys/vm/dirty_writeback_centisecs
}

# R-6.6.3-01: what is written by the delegation is there for those who end it, or just ask
no_writeback
echo content >$D/written
hold $A/written "wCONTENT"
tap_is "$(cat $B/written)" CONTENT "another client reads what was just written"
release
echo content >$D/longer
hold $A/longer "amore"
tap_is "$(stat -c %s $B/longer)" 12 "another client sees the size of what was just written"
tap_is "$(stat -c %s $D/longer)" 8 "although it was not written to the server"
tap_is "$(cat $D/longer)" "content
more" "a program of the server reads it"
release
writeback_again

# Leases of programs: lease.py FILE KIND [TEXT]: sets one; when it is broken, tells what it
# reads, writes TEXT, and releases it; without TEXT it does not
cat >/tmp/lease.py <<'PY'
import errno, fcntl, os, signal, sys, time
name, kind, *text = sys.argv[1:]
fd = os.open(name, os.O_RDWR if kind == "write" else os.O_RDONLY)
def broken(number, frame):
    if not text:
        return
    with open("/tmp/broken", "w") as seen:
        seen.write(os.pread(fd, 100, 0).decode())
    if kind == "write":
        os.pwrite(fd, text[0].encode(), 0)
    time.sleep(1)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    os._exit(0)
signal.signal(signal.SIGIO, broken)
try:
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK if kind == "write" else fcntl.F_RDLCK)
except OSError as error:
    sys.exit(errno.errorcode[error.errno])
open("/tmp/leased", "w").close()
while fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_UNLCK:
    time.sleep(0.1)
PY
# lease FILE KIND [TEXT]: in the background, $holder
lease()
{
	rm -f /tmp/leased /tmp/broken
	python3 -B /tmp/lease.py "$@" &
	holder=$!
	eventually [ -e /tmp/leased ]
}
# a file on A that has been opened often enough
delegated()
{
	echo "$2" >$D/"$1"
	for _ in 1 2 3; do cat $A/"$1" >/dev/null; done
}
# the one that asks waits, and what the other returns goes in one exchange
delegated returned content
stat $B/returned >/dev/null
append()
{
	: >>$B/returned
}
requests append
tap_is "$(summary)" " 1 BC_RECALL 2 CLOSE 1 DELEGRETURN 1 GETATTR_INLINE 1 OPEN " \
	"to open what another client reads takes no request more than needed"
delegated leased before
tap_run "a program has a lease on a delegated file" lease $A/leased read after
tap_run "another client opens it for writing" timeout 60 sh -c "echo changed >$B/leased"
tap_run "the program has released it before" gone $holder
tap_is "$(cat /tmp/broken)" before "and has seen nothing of that"
break_time=$(cat /proc/sys/fs/lease-break-time)
echo 2 >/proc/sys/fs/lease-break-time
delegated kept before
tap_run "a program has a lease that it does not release" lease $A/kept read
tap_run "a program of the server waits no longer than the kernel lets it" \
	timeout 60 sh -c "echo changed >$D/kept"
tap_run "which takes it from the program" eventually gone $holder
echo "$break_time" >/proc/sys/fs/lease-break-time
echo before >$D/owned
tap_run "a program has a lease to write" lease $A/owned write "AFTER"
tap_is "$(timeout 60 cat $B/owned)" AFTERe "what it writes before it releases it is read"
tap_run "it has released it" eventually gone $holder
echo before >$D/shared
tap_run "a program has a lease to write" lease $A/shared write "AFTER"
tap_is "$(timeout 60 cat $A/shared)" AFTERe "a program of the same client waits for that, too"

# Two mounts of one client do not have the same cache
C=/mnt/c
tap_run "the client mounts once more" mount_dafs data $C clientid=one,nosharecache
echo 1 >$D/twice
for _ in 1 2 3; do cat $A/twice >/dev/null; done
echo 2 >$C/twice
tap_is "$(cat $A/twice)" 2 "what one of its mounts has written the other one reads"
echo lock >$D/both
hold $A/both l
tap_is "$(file $C/both l)" EAGAIN "what one has locked is locked for the other"
release
umount $C

# What the client itself removes is closed at the server, which frees its space
free_blocks()
{
	stat -f -c %f $D
}
head -c 1048576 /dev/urandom >$D/removed
head -c 1048576 /dev/urandom >$D/replaced
echo small >$D/small
sync
free=$(free_blocks)
file $A/removed r >/dev/null
file $A/replaced r >/dev/null
rm $A/removed
mv $A/small $A/replaced
tap_run "the space of removed and replaced files is free" [ "$(free_blocks)" -ge $((free + 500)) ]

# Inodes that are not used any more
returned()
{
	counted DELEGRETURN 1 $A
}
echo cache >$D/cache
for _ in 1 2 3; do cat $A/cache >/dev/null; done
before=$(returned)
echo 3 >/proc/sys/vm/drop_caches
more_returned()
{
	[ "$(returned)" -gt "$before" ]
}
tap_run "a delegation goes back with its inode" eventually more_returned

# So many files are not kept open
mkdir $D/many
python3 -B - $D/many <<'PY'
import sys
for n in range(1100):
    open("%s/%d" % (sys.argv[1], n), "w").write("x")
PY
cat >/tmp/read.py <<'PY'
import os, sys
for _ in range(2):
    for n in range(1100):
        assert open("%s/%d" % (sys.argv[1], n)).read() == "x"
PY
before=$(returned)
tap_run "many files are read twice" python3 -B /tmp/read.py $A/many
kept()
{
	[ $(($(returned) - before)) -ge 100 ]
}
tap_run "the first ones go back" eventually kept

# The administrator ends an export, changes what may be done in it, or ends a client
mount -t configfs none /sys/kernel/config 2>/dev/null
CONFIG=/sys/kernel/config/dafsd/exports/conf E=/mnt/conf F=/srv/conf
mkdir $CONFIG
echo $F >$CONFIG/path
echo 0 >$CONFIG/root_squash
echo 1 >$CONFIG/enable
tap_run "an export that configfs has" mount_dafs conf $E clientid=one
echo before >$F/ended
for _ in 1 2 3; do cat $E/ended >/dev/null; done
echo lock >$F/locked
hold $E/locked l
tap_run "it is disabled" sh -c "echo 0 >$CONFIG/enable"
echo after >$F/ended
tap_is "$(file $F/locked l)" ok "a program of the server gets what was locked"
tap_run "it is enabled again" sh -c "echo 1 >$CONFIG/enable"
tap_is "$(cat $E/ended)" after "what was delegated before is not any more"
release
echo before >$F/squashed
for _ in 1 2 3; do cat $E/squashed >/dev/null; done
before=$(counted DELEGRETURN 1 $E)
returned_there()
{
	[ "$(counted DELEGRETURN 1 $E)" -gt "$before" ]
}
tap_run "users are squashed" sh -c "echo 1 >$CONFIG/all_squash"
tap_run "what was delegated to them is recalled" eventually returned_there
umount $E
echo 0 >$CONFIG/enable
rmdir $CONFIG
delegated expired before
client_id()
{
	dafsdctl clients | sed -n 's/^client=\([^ ]*\) name=[^ ]*one .*/\1/p'
}
fsfreeze -f $D
: >$A/being-made &
maker=$!
tap_run "a request is being executed" waits_for_server $maker
former=$(client_id)
tap_run "its client is ended" dafsdctl expire "$former"
fsfreeze -u $D
echo after >$D/expired
tap_is "$(cat $A/expired)" after "it knows that it has no delegations any more"
tap_run "as it has another client-id" [ "$(client_id)" != "$former" ]
wait $maker

# The server restarts: what it had delegated is delegated again
read_again()
{
	cat $A/again >/dev/null
}
reclaimed()
{
	[ "$(cat /sys/module/dafsd/parameters/grace)" = 0 ]
}
no_writeback
delegated again before
delegated changed before
exec 7<$A/again
head -c 1 <&7 >/dev/null
echo content >$D/unsynced
hold $A/unsynced amore
tap_is "$(stat -c %s $D/unsynced)" 8 "what is written to a file is not at the server at once"
end_server
echo after >$D/changed
start_server
tap_run "the server has restarted" stat -f $A $B
tap_run "and has given back what there was" eventually reclaimed
requests head -c 1 <&7 >/dev/null
tap_is "$(asked .)" 0 "a file that was open and delegated is read without asking the server"
exec 7<&-
# the attributes of the directory are new, too
ls $A >/dev/null
requests read_again
tap_is "$(asked OPEN) $(asked READ) $(asked GETATTR)" "0 0 0" "it is opened and read again"
# rights from before the restart grow old, but not those that were asked for since
nothing_asked()
{
	requests read_again
	[ "$(asked .)" = 0 ]
}
tap_run "and then nothing else is asked" eventually nothing_asked
requests cat $A/changed >/tmp/changed
tap_is "$(cat /tmp/changed) $(asked OPEN)" "after 0" \
	"what a program of the server has written meanwhile is read, by the delegation"
tap_is "$(stat -c %s $D/unsynced)" 8 "nor is it when the server has given the file back"
tap_is "$(timeout 60 cat $B/unsynced)" "content
more" "another client reads it"
release
tap_is "$(file $B/again wx)" "" "another client writes to the first one"
tap_is "$(head -c 1 $A/again)" x "and it is read"
writeback_again

# With a program that has locked the file, and with another lease
echo restart >$D/restart
hold $A/restart l wRESTART
end_server
start_server lease=5
tap_is "$(file $B/restart l)" EAGAIN "after a restart of the server what was locked still is"
release
tap_is "$(cat /tmp/out.held)" "ok
ok" "the one that has it goes on"
tap_is "$(file $B/restart l r)" "ok RESTART" "others lock it after that, and read what was written"

# Delegations come and go all the time, while programs of two clients and of the server lock,
# read and write the same file
ROUNDS=${DELEG_ROUNDS:-100}
cat >/tmp/count.py <<'PY'
"""count.py FILE ROUNDS: adds one to the number in FILE, under a lock, as often."""
import fcntl, os, sys
for n in range(int(sys.argv[2])):
    fd = os.open(sys.argv[1], os.O_RDWR)
    for _ in range(1 + n % 4):
        fcntl.lockf(fd, fcntl.LOCK_EX, 8, 8)
        number = int(os.pread(fd, 8, 8))
        os.pwrite(fd, b"%08d" % (number + 1), 8)
        fcntl.lockf(fd, fcntl.LOCK_UN, 8, 8)
    os.close(fd)
PY
printf '%016d' 0 >$D/count
echo 0 >/sys/module/dafsd/parameters/delegation_rest
counters=
for program in a/1 a/2 b/3 b/4; do
	python3 -B /tmp/count.py "/mnt/${program%/*}/count" "$ROUNDS" &
	counters="$counters $!"
done
python3 -B /tmp/count.py $D/count "$ROUNDS" &
counters="$counters $!"
for pid in $counters; do
	tap_run "a program that counts never fails" wait "$pid"
done
sum=$((5 * (ROUNDS / 4 * 10)))
tap_is "$(tail -c 8 $D/count | sed 's/^0*//')" $sum "and none has missed what another one wrote"

# Records that clients append under a lock in turns are all there, whole
cat >/tmp/append.py <<'PY'
"""append.py FILE NAME ROUNDS: appends records, found by the size of FILE, under a lock."""
import fcntl, os, sys
for n in range(int(sys.argv[3])):
    fd = os.open(sys.argv[1], os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.pwrite(fd, b"%-31s\n" % ("%s %d" % (sys.argv[2], n)).encode(), os.fstat(fd).st_size)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    os.close(fd)
PY
: >$D/records
appenders=
for program in a/1 a/2 b/3 b/4; do
	python3 -B /tmp/append.py "/mnt/${program%/*}/records" "${program#*/}" "$ROUNDS" &
	appenders="$appenders $!"
done
for pid in $appenders; do
	tap_run "a program that appends never fails" wait "$pid"
done
tap_is "$(sort $D/records | uniq | wc -l) $(grep -c '^[1-4] [0-9]* *$' $D/records)" \
	"$((4 * ROUNDS)) $((4 * ROUNDS))" "all records are there"

# A mount ends while the server recalls what it has
for round in 1 2 3; do
	mount_dafs data $C clientid=three
	head -n 1 $C/many/1?? $C/many/1?? >/dev/null
	python3 -B - $D/many <<'PY' &
import sys
for n in range(100, 200):
    open("%s/%d" % (sys.argv[1], n), "a").write("y")
PY
	recaller=$!
	tap_run "umount meanwhile, $round" umount $C
	tap_run "all is recalled, $round" wait $recaller
done
tap_is "$(cat $D/many/1?? | tr -d '\n')" "$(printf '%0100d' 0 | sed 's/0/xyyy/g')" "and written"

# The client is cut off for longer than its lease: what it had is others', and it learns that
echo 10 >/sys/module/dafsd/parameters/delegation_rest
umount $B
echo 1 >$D/cut
echo 1 >$D/taken
for _ in 1 2 3; do cat $A/cut >/dev/null; done
hold $A/taken l
tap_is "$(cat /tmp/out.held)" ok "it has a lock by a delegation, which the server does not know"
kernels=$(cat /proc/sys/fs/lease-break-time)
echo 1 >/proc/sys/fs/lease-break-time
ip link set dum0 down
begin=$(cut -d. -f1 /proc/uptime)
echo 2 >$D/cut
waited=$(($(cut -d. -f1 /proc/uptime) - begin))
tap_run "the kernel's time for leases does not matter" test $waited -gt 2
echo "$kernels" >/proc/sys/fs/lease-break-time
tap_fails "without its lease the client does not read what it has cached" \
	timeout -s KILL 3 cat $A/cut
tap_is "$(file $D/taken l w2)" ok "when its lease has run out a program of the server gets the lock"
ip link set dum0 up
ip addr add $ADDR6/64 dev dum0 nodad 2>/dev/null
rdma link delete rx0
rdma link add rx0 type rxe netdev dum0
tap_is "$(cat $A/cut)" 2 "back again, the client reads what was written meanwhile"
lost()
{
	! cat $A/taken >/dev/null 2>&1
}
tap_run "and finds that it has lost the lock" eventually lost
release
tap_is "$(cat /tmp/out.held)" "ok
EIO" "as its program does"
tap_is "$(file $A/taken l r)" "ok 2" "until it has unlocked"

# Where all slots are in use no NULL can be sent, but other requests renew the lease
tap_run "a mount with few slots" mount_dafs data $C clientid=three,max_requests=2
echo 1 >$D/busy
head -c 1048576 /dev/zero >$D/direct
hold $C/busy l
readers=
for _ in 1 2 3 4 5 6 7 8; do
	timeout 15 sh -c "while :; do dd if=$C/direct of=/dev/null bs=4k iflag=direct; done" \
		2>/dev/null &
	readers="$readers $!"
done
for reader in $readers; do
	wait "$reader"
done
tap_is "$(file $D/busy l)" EAGAIN "for three lease periods it is busy, and keeps its lock"
release
tap_is "$(cat /tmp/out.held)" "ok
ok" "as its program finds"
tap_is "$(file $D/busy l)" ok "which unlocks it then"
umount $C

# The administrator does not want any
echo 0 >/sys/module/dafsd/parameters/max_delegations
echo none >$D/none
for _ in 1 2 3; do cat $A/none >/dev/null; done
requests cat $A/none >/dev/null
tap_is "$(asked OPEN)" 1 "without delegations each open asks the server"

tap_run "umount" umount $A

tap_done
