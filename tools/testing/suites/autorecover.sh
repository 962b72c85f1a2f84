# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# AUTORECOVERY locks from programs: what was written under them is undone when their owner, or
# the server, is lost, or the owner wants it, and stays otherwise.
# bed: um
# timeout: 600

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
start_server exports=/srv/data:no_root_squash lease=4
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two
STATE=$(cat /sys/module/dafsd/parameters/state_dir)

renew()
{
	seq 1 20000 >$D/file
	sum=$(sha256sum <$D/file)
}

# is_old: the file is as renew has left it
is_old()
{
	[ "$(sha256sum <$D/file)" = "$sum" ]
}

# transact OPTION... -- COMMAND: by one client
transact()
{
	dafslock --autorecover "$@"
}

# Writes in the middle, behind the end, and cuts off; through the cache, and past it
cat >/tmp/change.py <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b"changed", 20000)
os.pwrite(fd, b"x" * 50000, os.fstat(fd).st_size)
os.fsync(fd)
os.ftruncate(fd, 70000)
os.pwrite(fd, b"changed", 65000)
if len(sys.argv) > 2:
    os.fsync(fd)
os.close(fd)
PY
changed="python3 -B /tmp/change.py"

# locked OPTION...: hold the lock, by one client, with a changed file, until release
locked()
{
	hold_after "$changed $A/file sync" transact "$@" $A/file
}

# what has become of the files of before-images
images()
{
	find $STATE -name 'undo.*' | wc -l
}

# --- without failures ---

renew
# R-4.4.1.4-01
tap_is "$(said transact $A/file $changed $A/file)" 0 "a command runs with the lock"
tap_is "$(stat -c %s $D/file) $(dd if=$D/file bs=1 skip=65000 count=7 2>/dev/null) $(images)" \
	"70000 changed 0" "and what it has written stays"
renew
tap_is "$(said transact $A/file sh -c "$changed $A/file; exit 3")" 3 "if it fails"
tap_run "all of it is undone" is_old
tap_is "$(sha256sum <$A/file)" "$sum" "as is seen by the client itself"
tap_is "$(sha256sum <$B/file)" "$sum" "and by another one"
cat >/tmp/abort.py <<'PY'
import fcntl, os, struct, sys
LOCK = 0xDA << 8
def lock(kind, flags=0):
    fcntl.ioctl(fd, LOCK, struct.pack("=IIIIQQ", 32, kind, flags, 0, 0, 0))
fd = os.open(sys.argv[1], os.O_RDWR)
before = os.pread(fd, 200000, 0)
os.pwrite(fd, b"first", 0)
# written, but not sent: it is not under the lock
lock(2, 8)
for n in range(3):
    os.pwrite(fd, b"second", 100 * n)
    os.pwrite(fd, b"third" * 1000, os.fstat(fd).st_size)
    os.ftruncate(fd, 1000 * n)
    os.pwrite(fd, b"fourth", 5000)
    lock(4)
    assert os.pread(fd, 200000, 0) == b"first" + before[5:], n
    assert os.fstat(fd).st_size == len(before), n
os.pwrite(fd, b"first", 10)
lock(3)
assert os.pread(fd, 200000, 0) == b"first" + before[5:10] + b"first" + before[15:]
PY
tap_is "$(said python3 -B /tmp/abort.py $A/file)" 0 "ABORT undoes what was written since the lock"
tap_is "$(head -c 15 $D/file | tail -c 5)" "first" "and nothing else"
renew
cat >/tmp/ends.py <<'PY'
import errno, fcntl, os, struct, sys
LOCK = 0xDA << 8
def call(kind, flags=0, start=0, length=0):
    try:
        fcntl.ioctl(fd, LOCK, struct.pack("=IIIIQQ", 32, kind, flags, 0, start, length))
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
fd = os.open(sys.argv[1], os.O_RDWR)
print(call(4), call(2, 8, 1), call(2, 8, 0, 10), call(1, 8), call(4, 8), call(4, 0, 1))
print(call(2), call(4), call(2, 8), call(4))
# a part of it is unlocked: what was written stays
os.pwrite(fd, b"one", 0)
print(call(3, 0, 0, 10), call(4))
# so it does if another description has the file locked by flock(2)
other = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(other, fcntl.LOCK_SH)
print(call(2, 8))
os.pwrite(fd, b"two", 3)
print(call(3), call(2, 8))
os.pwrite(fd, b"three", 6)
print(call(4), os.pread(fd, 11, 0) == b"onetwo" + sys.argv[2].encode())
os.close(fd)
fcntl.flock(other, fcntl.LOCK_UN)
PY
tap_is "$(said transact --shared $A/file true | tail -2; said transact --length 5 $A/file true |
	tail -1)" "dafslock: error: --autorecover is for writing, and for all of the file
2
2" "nor by the tool for less than all of the file"
tap_is "$(python3 -B /tmp/ends.py $A/file "$(dd if=$D/file bs=1 skip=6 count=5 2>/dev/null)")" \
	"EINVAL EINVAL EINVAL EINVAL EINVAL EINVAL
ok EINVAL ok ok
ok EINVAL
ok
ok ok
ok True" "how it begins and ends"
tap_is "$(head -c 6 $D/file) $(images)" "onetwo 0" "what was written before stays"

# --- others ---

renew
locked
tap_is "$(said dafslock --nonblock $B/file true)" 1 "others do not get the lock"
tap_is "$(said timeout 60 dafslock --autorecover --nonblock $B/file true)" 1 "nor one like it"
dafslock --autorecover $B/file sh -c ': >/tmp/got' &
waiter=$!
tap_is "$(said timeout 60 dd if=/dev/zero of=$B/file conv=notrunc,fsync bs=1 count=1 |
	grep -c 'Permission denied'; said timeout 60 truncate -s 0 $B/file | tail -1)" "1
1" "nor do they write meanwhile"
tap_is "$(tail -c 1 $B/file | wc -c)" 1 "but read"
tap_is "$(images)" 1 "before-images are in the state directory"
[ -e /tmp/got ]
tap_is "$?" 1 "who waits for it waits"
release
wait $waiter
tap_is "$(stat -c %s $D/file) $(images) $(find /tmp/got)" "70000 0 /tmp/got" \
	"until the command has ended"

# What an administrator sends is for the command; with it the changes end
renew
locked
kill "$(pgrep -f 'dafslock --autorecover' | head -1)"
wait $holder
tap_is "$?" 143 "SIGTERM ends the command"
tap_run "and what it has written is undone" eventually is_old
tap_is "$(said timeout 60 dafslock --nonblock $B/file true) $(images)" "0 0" "the file is free"

# --- the client is cut off ---

# R-4.4.1.4-02 R-4.4.1.5-03
renew
locked
former=$(client one)
tap_run "its lease runs out" dafsdctl expire "$former"
tap_run "what it has written is undone" eventually is_old
tap_is "$(said timeout 60 truncate -s 10 $A/file | tail -1)" 1 "nor is it cut off any more"
tap_run "as the server sees it" is_old
tap_is "$(said timeout 60 dafslock $B/file true)" 0 "and others get the lock"
rm /tmp/held
wait $holder
tap_is "$?" 2 "the program is told"
tap_run "and what it wrote is not there" is_old
# it ends while nothing is left to be written, and the client cannot know
renew
locked
former=$(client one)
cut_off
rm /tmp/held
sleep 1
dafsdctl expire "$former"
tap_run "the server undoes it" eventually is_old
reconnect
timeout 100 tail --pid=$holder -f /dev/null
wait $holder
tap_is "$?" 2 "so the end of the lock fails"
tap_run "and what was written is not there" is_old
# R-4.4.1.4-04
renew
locked --persist
former=$(client one)
tap_run "with a PERSIST lock" dafsdctl expire "$former"
tap_run "it comes back" eventually is_back one "$former"
tap_run "and goes on" dd if=/dev/zero of=$A/file bs=1 count=1 conv=notrunc,fsync
release
tap_is "$(stat -c %s $D/file)" 70000 "so that its changes stay"

# --- the server restarts ---

# R-4.4.1.6-04 R-6.5.18-02
renew
locked
restart_server
tap_run "when the server is back the program goes on" \
	dd if=/dev/zero of=$A/file bs=1 count=1 seek=100 conv=notrunc,fsync
tap_run "the grace period ends" eventually grace_is_over
tap_is "$(stat -c %s $D/file)" 70000 "with all that it has written"
release
tap_is "$(stat -c %s $D/file) $(images)" "70000 0" "which stays"
renew
rm -f /tmp/held
transact $A/file sh -c "$changed $A/file sync; : >/tmp/held
	while [ -e /tmp/held ]; do sleep 0.1; done; exit 9" &
holder=$!
eventually [ -e /tmp/held ]
restart_server
release
tap_run "or is undone, from before the restart" is_old

# --- the client is lost ---

is_broken()
{
	[ "$(said dafslock --nonblock $B/file true | tail -1)" = 3 ]
}

locked --persist
former=$(client one)
crash $A
reconnect
dafsdctl expire "$former"
tap_run "a PERSIST lock whose owner is lost is broken" eventually is_broken
tap_run "and its changes are undone" is_old
tap_is "$(said timeout 60 dafslock --repair $B/file true)" 0 "who repairs it finds the file whole"
tap_run "the one client again" mount_dafs data $A clientid=one

# R-4.4.1.6-05: both are lost
locked
former=$(client one)
tap_is "$(dafsdctl persist | grep -oE '(^| )(state|kind)=[a-z]*' | xargs)" \
	"state=held kind=autorecovery" \
	"the administrator sees it"
end_server
crash $A
reconnect
start_server
tap_run "when the client does not come back after a restart" eventually grace_is_over
tap_run "its changes are undone" eventually is_old
tap_is "$(said timeout 60 dafslock $B/file true)" 0 "and the file is free"
tap_is "$(images)" 0 "nothing is left of it"
tap_run "the one client, once more" mount_dafs data $A clientid=one

# --- what was there before is lost ---

is_undoing()
{
	dafsdctl persist | grep -q state=undoing
}

renew
locked
end_server
crash $A
reconnect
rm $STATE/undo.*
start_server
tap_run "without before-images" eventually grace_is_over
tap_run "changes cannot be undone" eventually is_undoing
id=$(dafsdctl persist | grep -oE '^id=[0-9]+' | cut -d = -f 2)
tap_run "the log tells of what, and what to do" eventually sh -c "dmesg | grep -q \
	'record $id: cannot undo .* inode $(stat -c %i $D/file) of ram0 .*\"dafsdctl forget $id\"'"
tap_is "$(said timeout 60 dafslock --nonblock $B/file true | tail -1)" 2 "the file cannot be locked"
tap_run "the administrator gives it up" dafsdctl forget "$id"
tap_is "$(said timeout 60 dafslock $B/file true) $(dafsdctl persist)" "0 " "then it can"
tap_fails "and is left as it is" is_old
tap_run "the one client, as before" mount_dafs data $A clientid=one

# --- no room ---

echo 0 >/sys/module/dafsd/parameters/max_undo
renew
tap_is "$(said transact $A/file $changed $A/file 2>&1 | grep -o 'No space' | head -1)" "No space" \
	"what cannot be saved is not written"
tap_run "but stays as it was" is_old
echo 64 >/sys/module/dafsd/parameters/max_undo
tap_is "$(said transact $A/file $changed $A/file)" 0 "there is room again"
umount $B
tap_run "a mount that keeps locks to itself" mount_dafs data $B clientid=two,local_lock=all
none_such="the server has no such locks for this file, or local_lock of the mount keeps locks to this \
machine"
tap_is "$(said dafslock --autorecover $B/file true)" \
	"dafslock: $B/file: $none_such
2" "undoes nothing"

# --- how many there are ---

cat >/tmp/many.py <<'PY'
import errno, fcntl, os, struct, sys
os.mkdir(sys.argv[1])
fds = []
try:
    while len(fds) < 300:
        fds.append(os.open(f"{sys.argv[1]}/{len(fds)}", os.O_RDWR | os.O_CREAT))
        fcntl.ioctl(fds[-1], 0xDA << 8, struct.pack("=IIIIQQ", 32, 2, 8, 0, 0, 0))
except OSError as error:
    print(len(fds) - 1, errno.errorcode[error.errno])
# one that has ended makes room for another one
os.close(fds[0])
fcntl.ioctl(fds[-1], 0xDA << 8, struct.pack("=IIIIQQ", 32, 2, 8, 0, 0, 0))
PY
tap_is "$(said python3 -B /tmp/many.py $A/many)" "256 ENOLCK
0" "one machine has a quarter of the locks that there may be"
tap_is "$(images)" 0 "and all have ended with the program"

# --- the server is unloaded while it undoes ---

renew
locked
former=$(client one)
fsfreeze -f $D
dafsdctl expire "$former"
tap_run "the file system hangs while changes are undone" eventually is_undoing
modprobe -r dafsd &
unload=$!
tap_run "the server is unloaded, which waits" waits_for_server $unload
fsfreeze -u $D
tap_run "until the file system goes on" wait $unload
tap_run "it is back" start_server
tap_run "and the changes are undone" eventually is_old
rm /tmp/held
wait $holder
tap_is "$?" 2 "which the program is told"
tap_is "$(said timeout 60 dafslock $A/file true) $(images)" "0 0" "nothing is left of that"
umount $A $B

# --- servers that undo nothing ---

# refused OPTION...: how a lock is refused by a server that is loaded so
refused()
{
	restart_server "$@"
	mount_dafs data $A
	touch $A/none
	said dafslock --autorecover $A/none true
	said dafslock --persist $A/none true
	said dafslock $A/none true
	umount $A
}
none="dafslock: $A/none: $none_such
2
dafslock: $A/none: $none_such
2
0"
tap_is "$(refused exports=$D:no_root_squash state_dir=/proc/none "fh_key=$(cat $STATE/fh_key)")" \
	"$none" "without a state directory there are no such locks"
# an overlayfs that has no UUID
modprobe -q overlay
(cd $D && mkdir lower upper work)
mkdir /srv/over
mount -t overlay -o uuid=null,index=on,nfs_export=on,lowerdir=$D/lower \
	-o upperdir=$D/upper,workdir=$D/work over /srv/over || tap_bail "no overlayfs"
tap_is "$(refused exports=/srv/over:no_root_squash:name=data)" "$none" \
	"nor in a file system without a name that lasts"
end_server
umount /srv/over

# --- requests that do not know of the lock yet ---

# one of them waits for the disk, in the middle of a page that is not in memory
mkdir /srv/slow
make_slow_disk 64
mkfs.ext4 -q -F -I 256 /dev/mapper/slow && mount -o noatime /dev/mapper/slow /srv/slow ||
	tap_bail "no disk"
modprobe dafsd exports=/srv/slow:no_root_squash max_delegations=0
mount_dafs slow $A clientid=one && mount_dafs slow $B clientid=two || tap_bail "no mounts"
seq 1 20000 >/srv/slow/file
cat >/tmp/late.py <<'PY'
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
open("/tmp/opened", "w").close()
while not os.path.exists("/tmp/go"):
    time.sleep(0.1)
print(os.pwrite(fd, b"late" * 25, 200))
PY
python3 -B /tmp/late.py $B/file >/tmp/written &
late=$!
eventually [ -e /tmp/opened ]
sync -f /srv/slow
echo 1 >/proc/sys/vm/drop_caches
dmsetup suspend --nolockfs slow
touch /tmp/go
tap_run "a request writes" waits_for_server $late
transact $A/file sh -c ": >/tmp/granted; printf mine | dd of=$A/file bs=1 seek=200 conv=notrunc,fsync
	exit 1" 2>/dev/null &
one=$!
sleep 3
# R-4.4.1.2-06
tap_fails "the lock is not granted meanwhile" [ -e /tmp/granted ]
dmsetup resume slow
tap_run "but then" eventually [ -e /tmp/granted ]
wait $late
tap_is "$(cat /tmp/written)" 100 "when that has written"
wait $one
undone()
{
	[ "$(head -c 300 $B/file | tail -c 100 | sed s/late//g)" = "" ]
}
tap_run "what it has written is not undone" eventually undone

tap_run "umount" umount $A $B
tap_run "unload" modprobe -r dafs dafsd
umount /srv/slow
dmsetup remove slow
tap_done
