# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Local programs with fanotify or leases at the server, and overlayfs on both sides.
# bed: um
# timeout: 180

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data
M=/mnt/dafs

setup_rxe
make_backing $D 64
mkdir $D/lower $D/upper $D/work
for file in changed removed same; do
	echo lower >$D/lower/$file
done
modprobe -q overlay
mkdir /srv/over
mount -t overlay -o lowerdir=$D/lower,upperdir=$D/upper,workdir=$D/work,index=on,nfs_export=on \
	over /srv/over || tap_bail "no overlayfs"
load_modules "$D:no_root_squash,/srv/over:no_root_squash:name=over"
mount_dafs data $M || tap_bail "no mount"
# A client with a delegation opens files itself, which no program of the server is asked
# about.
max=$(cat /sys/module/dafsd/parameters/max_delegations)
echo 0 >/sys/module/dafsd/parameters/max_delegations

# A fanotify program that answers permission events for open and read with the contents
# of /tmp/answer, when that file exists.  Logs the events.
cat >/tmp/watch.py <<'END'
import ctypes, os, struct, sys, time
CLASS_CONTENT, CLOEXEC, ADD, AT_FDCWD = 4, 1, 1, -100
MODIFY, OPEN, READ = 2, 0x10000, 0x20000
ANSWERS = {"allow": 1, "deny": 2}
libc = ctypes.CDLL(None, use_errno=True)
libc.fanotify_mark.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_int,
                               ctypes.c_char_p]
fan = libc.fanotify_init(CLASS_CONTENT | CLOEXEC, os.O_RDONLY)
if fan < 0 or libc.fanotify_mark(fan, ADD, MODIFY | OPEN | READ, AT_FDCWD,
                                 sys.argv[1].encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
open("/tmp/watching", "w").close()
def tell(what):
    with open("/tmp/asked", "a") as asked:
        print(what, file=asked)
def answer(fd):
    while not os.path.exists("/tmp/answer"):
        time.sleep(0.05)
    with open("/tmp/answer") as file:
        os.write(fan, struct.pack("<iI", fd, ANSWERS[file.read().strip()]))
while True:
    for event in struct.iter_unpack("<IBBHQii", os.read(fan, 4800)):
        mask, fd = event[4:6]
        tell("open" if mask & OPEN else "read" if mask & READ else "modified")
        if mask & (OPEN | READ):
            answer(fd)
        os.close(fd)
END
# answer ANSWER: sets the answer, and clears the log
answer()
{
	: >/tmp/asked
	echo "$1" >/tmp/new && mv /tmp/new /tmp/answer
}
asked()
{
	grep -q "$1" /tmp/asked
}
refused()
{
	"$@" 2>&1 | grep -q "Operation not permitted"
}

echo old >$D/watched
answer deny
python3 /tmp/watch.py $D/watched &
watcher=$!
tap_run "a program is to be asked" eventually [ -e /tmp/watching ] || tap_bail "no fanotify"
tap_run "it refuses to have a file opened" refused cat $M/watched
tap_run "it was asked" asked open
tap_run "or emptied" refused dd if=/dev/null of=$M/watched
answer allow
tap_is "$(cat $M/watched)" old "which has not come about"
exec 3<$M/watched
answer deny
tap_run "it refuses a read by a program that has it open" refused \
	dd bs=4096 count=1 iflag=direct <&3
tap_run "asked about that" asked read
exec 3<&-
answer allow
tap_run "when it agrees" sh -c "echo new >$M/watched && sync $M/watched"
tap_is "$(cat $D/watched)" new "the file is written"
tap_run "it hears of that" eventually asked modified

# A pending answer delays nothing else.
rm /tmp/answer
: >/tmp/asked
head -c 5 $M/watched >/tmp/slow &
slow=$!
tap_run "it thinks about an open" eventually asked open
tap_run "meanwhile the name gets another file" timeout 60 sh -c \
	"echo other >$M/other && sync $M/other && mv $M/other $M/watched"
tap_fails "the open waits" gone $slow
answer allow
tap_run "until it agrees" wait $slow
tap_is "$(cat /tmp/slow)" other "the file that has the name now is opened"
kill $watcher
echo "$max" >/sys/module/dafsd/parameters/max_delegations

# A lease of a program of the server: it is broken by opens of others, but not by
# operations without an open.
cat >/tmp/lease.py <<'END'
import fcntl, os, signal, sys, time
name, kind = sys.argv[1:]
fd = os.open(name, os.O_RDWR if kind == "write" else os.O_RDONLY)
def broken(number, frame):
    with open("/tmp/seen", "w") as seen:
        seen.write(os.pread(fd, 100, 0).decode())
    time.sleep(1)
    with open("/tmp/seen", "a") as seen:
        seen.write(os.pread(fd, 100, 0).decode())
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    os._exit(0)
signal.signal(signal.SIGIO, broken)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK if kind == "write" else fcntl.F_RDLCK)
open("/tmp/leased", "w").close()
while True:
    time.sleep(1000)
END
# The server closes the file when it gets the client's last CLOSE.
take_lease()
{
	python3 /tmp/lease.py $D/leased "$1" &
	holder=$!
	until [ -e /tmp/leased ]; do
		gone $holder && return 1
		sleep 0.1
	done
}
# lease KIND: starts a program with a lease on a file, $holder
lease()
{
	rm -f /tmp/leased /tmp/seen
	echo before >$D/leased
	eventually take_lease "$1" || tap_bail "no lease"
}
# breaks WHAT KIND COMMAND: the program releases its lease before the command ends
breaks()
{
	lease "$2"
	tap_run "$1 waits for a lease to $2" timeout 60 sh -c "$3"
	tap_run "which is given up" eventually gone $holder
	tap_is "$(cat /tmp/seen)" "before
before" "while nothing is changed"
}
lease read
tap_run "chmod" timeout 60 chmod 640 $M/leased
tap_is "$(stat -c %a $D/leased)" 640 "is done at once"
tap_is "$(cat $M/leased)" before "and so is reading for a lease to read"
tap_fails "which stays" [ -e /tmp/seen ]
kill $holder
wait $holder
breaks "an open to read" write "cat $M/leased"
breaks "an open to write" read "echo x 1<>$M/leased"
breaks "an open that empties" read ": >$M/leased"
tap_is "$(stat -c %s $D/leased)" 0 "it is empty then"
breaks "truncate" read "truncate -s 3 $M/leased"
tap_is "$(cat $D/leased)" bef "it is shorter then"
umount $M

# An overlayfs is exported; changes through the mount copy lower files up.
mount_dafs over $M
exec 3<$M/same
tap_is "$(cat $M/same $M/removed | tr '\n' ' ')" "lower lower " "an overlayfs is read"
tap_is "$(dafslock --persist $M/same true 2>&1)" \
	"dafslock: $M/same: the server has no such locks for this file, or local_lock of the mount \
keeps locks to this machine" "but what survives is not locked there"
echo upper >>$M/changed
sync $M/changed
chmod 640 $M/same
rm $M/removed
mkdir $M/dir
mv $M/changed $M/dir/moved
ln $M/dir/moved $M/linked
tap_is "$(tr '\n' ' ' <$M/linked)" "lower upper " "what is changed is copied"
names()
{
	(cd "$1" && find . -type f -printf '%P %m %n %s\n' | sort)
}
tap_is "$(names $M)" "$(names /srv/over)" "names, modes and numbers of links"
tap_fails "what is removed is gone" cat $M/removed
tap_is "$(cat $D/lower/changed $D/lower/removed | tr '\n' ' ')" "lower lower " \
	"and the layer below is as it was"
tap_is "$(dd bs=4096 count=1 iflag=direct <&3 2>/dev/null)" lower \
	"a file that was copied keeps its filehandle"
exec 3<&-
umount $M

# The mount is a lower layer of an overlayfs of the client.
mount_dafs data $M
mkdir -p /tmp/layers/upper /tmp/layers/work /mnt/over $D/upper2 $D/work2
tap_run "a mount is a lower layer" mount -t overlay over /mnt/over \
	-o lowerdir=$M/lower,upperdir=/tmp/layers/upper,workdir=/tmp/layers/work
tap_is "$(cat /mnt/over/changed)" lower "it is read"
echo mine >>/mnt/over/changed
rm /mnt/over/removed
tap_is "$(names /mnt/over)" "changed 644 1 11
same 644 1 6" "changes are above it"
tap_is "$(cat $M/lower/changed $M/lower/removed | tr '\n' ' ')" "lower lower " "not in it"
umount /mnt/over
tap_fails "as an upper layer it is refused" mount -t overlay over /mnt/over \
	-o lowerdir=/tmp/layers/upper,upperdir=$M/upper2,workdir=$M/work2
umount $M
modprobe -r dafsd
umount /srv/over
tap_run "fsck of the export" sh -c "umount $D && e2fsck -f -n /dev/ram0"
tap_done
