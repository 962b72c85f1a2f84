# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Several exports, nested exports, and the submounts made when crossing them.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

SUBMOUNT_EXPIRY=/sys/module/dafs/parameters/submount_expiry
CONFIG=/sys/kernel/config/dafsd/exports

# /srv/disk1 with disk2 on gap, which is not exported, and disk3 on gap/disk3; far
# is also on disk1/direct.
setup_rxe
make_backing /srv/disk1 64
mkdir /srv/disk1/gap /srv/disk1/plain /srv/disk1/plain/inner
make_backing /srv/disk1/gap 32
mkdir /srv/disk1/gap/disk3
make_backing /srv/disk1/gap/disk3 96
make_backing /srv/far 16
umount /srv/disk1/gap/disk3 /srv/disk1/gap
echo covered >/srv/disk1/gap/covered
mount /dev/ram1 /srv/disk1/gap
mount /dev/ram2 /srv/disk1/gap/disk3
echo one >/srv/disk1/file
echo two >/srv/disk1/gap/file
echo three >/srv/disk1/gap/disk3/file
echo inner >/srv/disk1/plain/inner/file
echo far >/srv/far/file
mkdir /srv/disk1/direct
mount --bind /srv/far /srv/disk1/direct
mkdir -p /mnt/dafs /mnt/other

load_modules "/srv/disk1:no_root_squash:name=top/disk1,/srv/far:no_root_squash:ro:name=top/far"
mount -t configfs none /sys/kernel/config 2>/dev/null

# export_dir ITEM NAME DIR: adds an export by configfs while the server runs.
export_dir()
{
	mkdir "$CONFIG/$1" && echo "$2" >"$CONFIG/$1/name" &&
		echo "$3" >"$CONFIG/$1/path" && echo 0 >"$CONFIG/$1/root_squash" &&
		echo 1 >"$CONFIG/$1/enable"
}

unexport_dir()
{
	echo 0 >"$CONFIG/$1/enable" && rmdir "$CONFIG/$1"
}

# st_dev and file system of a path, through crossings
dev()
{
	stat -c %d "$1/."
}

# submounts DIR: number of submounts below
submounts()
{
	findmnt -n -R -o TARGET "$1" | grep -c .
}

# Does not access the directory, which would keep the submount busy.
mounted()
{
	grep -q " $1 dafs " /proc/mounts
}

# gone DIR: waits until it is not a mount point.
gone()
{
	gone_left=600
	while mounted "$1" && [ $gone_left -gt 0 ]; do
		gone_left=$((gone_left - 1))
		sleep 0.1
	done
	! mounted "$1"
}

connections()
{
	rdma resource show qp | grep -c 'type RC'
}

size()
{
	df -k --output=size "$1" | tail -n 1 | tr -d ' '
}

# The root and the directories above exports.
tap_run "mount the root" mount -t dafs $ADDR4:/ /mnt/dafs
connections=$(connections)
tap_run "it has a connection" test "$connections" -gt 0
tap_is "$(ls /mnt/dafs)" top "the root has what leads to the exports"
tap_is "$(ls /mnt/dafs/top | tr '\n' ' ')" "disk1 far " "and that has the exports"
tap_is "$(stat -c '%F %a %u %g' /mnt/dafs /mnt/dafs/top | sort -u)" "directory 555 0 0" \
	"these directories are to be looked at"
tap_fails "nothing is made there" mkdir /mnt/dafs/top/new
tap_fails "no file either" touch /mnt/dafs/top/new
tap_fails "nothing is removed there" rmdir /mnt/dafs/top/far
tap_fails "nothing is renamed there" mv /mnt/dafs/top /mnt/dafs/pot
tap_fails "no mode is set there" chmod 777 /mnt/dafs/top

# R-4.1.4-05 R-4.1.4-03: each export appears as a separate file system.
tap_is "$(cat /mnt/dafs/top/disk1/file /mnt/dafs/top/far/file | tr '\n' ' ')" "one far " \
	"files are found through the root"
tap_is "$(findmnt -n -o SOURCE /mnt/dafs/top/disk1)" "$ADDR4:/top/disk1" "a submount has its source"
tap_is "$(findmnt -n -o FSTYPE /mnt/dafs/top/far)" dafs "and is of type dafs"
tap_is "$(for dir in /mnt/dafs /mnt/dafs/top/disk1 /mnt/dafs/top/far; do dev $dir; done |
	sort -u | wc -l)" 3 "root and exports differ in st_dev"
tap_is "$(dev /mnt/dafs)" "$(dev /mnt/dafs/top)" "a pseudo directory does not"
for dir in disk1 far; do
	tap_is "$(size /mnt/dafs/top/$dir)" $(($(size /srv/$dir) / 4 * 4)) "$dir has its own size"
	tap_is "$(stat -f -c %c /mnt/dafs/top/$dir)" "$(stat -f -c %c /srv/$dir)" \
		"and its own number of inodes"
done
tap_is "$(df --output=target /mnt/dafs/top/disk1/file | tail -n 1)" /mnt/dafs/top/disk1 \
	"df shows the submount"
tap_is "$(find /mnt/dafs -name file 2>&1 | sort | tr '\n' ' ')" \
	"/mnt/dafs/top/disk1/file /mnt/dafs/top/disk1/plain/inner/file /mnt/dafs/top/far/file " \
	"find does not see what is mounted on disk1 and not exported"
tap_is "$(cat /mnt/dafs/top/disk1/gap/covered)" covered "a local mount does not show through"
echo new >/mnt/dafs/top/disk1/new
tap_is "$(cat /srv/disk1/new)" new "a file is made in an export"
tap_fails "not in a read-only one" touch /mnt/dafs/top/far/new
tap_is "$(ls /mnt/dafs/top/disk1/.. | tr '\n' ' ')" "disk1 far " \
	"the way up leads out of an export"
tap_is "$(connections)" "$connections" "submounts share the connection"

# R-4.1.4-02: disk3 is exported, the directory it is mounted on is not (7.6).
tap_run "export below a local mount" export_dir gap top/disk1/gap/disk3 /srv/disk1/gap/disk3
umount -R /mnt/dafs
mount -t dafs $ADDR4:/ /mnt/dafs
tap_is "$(ls /mnt/dafs/top/disk1/gap)" disk3 "the gap is bridged"
tap_is "$(cat /mnt/dafs/top/disk1/gap/disk3/file)" three "to the export behind it"
tap_is "$(for dir in top top/disk1 top/disk1/gap top/disk1/gap/disk3; do
	dev /mnt/dafs/$dir; done | sort -u | wc -l)" 4 "each with an st_dev"
tap_fails "the bridge takes no file" touch /mnt/dafs/top/disk1/gap/new
tap_is "$(submounts /mnt/dafs)" 4 "three submounts"
tap_run "umount takes idle submounts along" umount /mnt/dafs
mount -t dafs $ADDR4:/ /mnt/dafs
exec 3</mnt/dafs/top/disk1/gap/disk3/file
tap_fails "but not those in use" umount /mnt/dafs
tap_fails "nor with what is above" umount -R /mnt/dafs
tap_is "$(cat <&3)" three "they go on"
tap_run "lazily it does" umount -l /mnt/dafs
exec 3<&-

# Both have the same inode number at their roots.
tap_run "export what is mounted on a directory" export_dir direct top/disk1/direct /srv/disk1/direct
mount -t dafs $ADDR4:/ /mnt/dafs
outer=/mnt/dafs/top/disk1
tap_is "$(stat -c %i /srv/disk1/. /srv/disk1/direct/.  $outer/. | sort -u)" 2 "roots have number 2"
tap_is "$(stat -c %d $outer/direct)" "$(dev $outer)" "a crossing has the st_dev of where it is"
tap_fails "and no inode number of a directory above" [ "$(stat -c %i $outer/direct)" = 2 ]
tap_fails "looking at it mounts nothing" mounted $outer/direct
tap_is "$(find $outer -name file 2>&1 | sort | tr '\n' ' ')" \
	"$outer/direct/file $outer/file $outer/gap/disk3/file $outer/plain/inner/file " \
	"find sees no loop"
tap_is "$(stat -c %i $outer/direct/.)" 2 "behind it the root has its number"
tap_fails "and another st_dev" [ "$(dev $outer/direct)" = "$(dev $outer)" ]
umount /mnt/dafs
unexport_dir direct

# Nested directories of one file system, the same export by two paths.
tap_run "export a directory of an export" export_dir inner inner /srv/disk1/plain/inner
mount -t dafs $ADDR4:/ /mnt/dafs
tap_is "$(cat /mnt/dafs/inner/file /mnt/dafs/top/disk1/plain/inner/file | tr '\n' ' ')" \
	"inner inner " "reached by two paths"
tap_is "$(dev /mnt/dafs/inner)" "$(dev /mnt/dafs/top/disk1/plain/inner)" "it is one file system"
umount /mnt/dafs
mount -t dafs -o noac $ADDR4:/ /mnt/dafs
crossing=/mnt/dafs/top/disk1/plain/inner
mkdir /mnt/dafs/top/disk1/plain/empty
busy()
{
	tap_is "$(LC_ALL=C "$@" 2>&1 | grep -c 'Device or resource busy')" 1 "$1 of a crossing: EBUSY"
}
busy rmdir $crossing
busy mv -T $crossing /mnt/dafs/top/disk1/plain/moved
busy mv -T /mnt/dafs/top/disk1/plain/empty $crossing
tap_fails "it is not mounted for that" mounted $crossing
tap_is "$(ls /srv/disk1/plain | tr '\n' ' ')" "empty inner " "all is where it was"
umount /mnt/dafs
mount -t dafs $ADDR4:/ /mnt/dafs
echo changed >/mnt/dafs/inner/file
tap_is "$(cat /mnt/dafs/top/disk1/plain/inner/file)" changed "with one cache"
# R-A.4.2-01
tap_run "mount an export by its path" mount -t dafs $ADDR4:/top/disk1/gap/disk3 /mnt/other
tap_is "$(cat /mnt/other/file)" three "it is there"
umount /mnt/other
tap_run "mount a pseudo directory" mount -t dafs $ADDR4:/top /mnt/other
tap_is "$(cat /mnt/other/far/file)" far "and go on from there"
tap_is "$(findmnt -n -o SOURCE /mnt/other/far)" "$ADDR4:/top/far" "which the source tells"
tap_run "bind a submount" mount --bind /mnt/dafs/top/far /srv/far
umount -R /mnt/other
tap_run "umount what is above the bound one" umount /mnt/dafs
tap_is "$(cat /srv/far/file)" far "the bound one stays"
umount /srv/far

# The session is the upper mount's.
mount -t dafs -o noac $ADDR4:/ /mnt/dafs
cat /mnt/dafs/top/far/file >/dev/null
tap_run "umount -f of a submount" umount -f /mnt/dafs/top/far
tap_is "$(cat /mnt/dafs/top/far/file)" far "leaves the session alone"
mount --bind /mnt/dafs/top/far /mnt/other
tap_run "umount -f of the upper mount" umount -f /mnt/dafs
tap_is "$(cat /mnt/other/file)" far "leaves it to a submount in use"
umount /mnt/other

# Submounts inherit options and read-only, and expire when idle.
mount -t dafs -o ro,nosuid,rsize=65536 $ADDR4:/ /mnt/dafs
tap_fails "a read-only mount has read-only submounts" touch /mnt/dafs/top/disk1/ro
case $(findmnt -n -o OPTIONS /mnt/dafs/top/disk1) in
ro,nosuid,*rsize=65536*) tap_ok "submounts have the options" ;;
*) tap_not_ok "submounts have the options" ;;
esac
umount /mnt/dafs
mount -t dafs $ADDR4:/ /mnt/dafs
cat /mnt/dafs/top/far/file >/dev/null
exec 3</mnt/dafs/top/disk1/file
echo 1 >$SUBMOUNT_EXPIRY
tap_run "an idle submount expires" gone /mnt/dafs/top/far
tap_run "one in use does not" mounted /mnt/dafs/top/disk1
exec 3<&-
tap_run "until it is idle" gone /mnt/dafs/top/disk1
tap_is "$(cat /mnt/dafs/top/far/file)" far "and comes back when wanted"
echo 600 >$SUBMOUNT_EXPIRY

# An export that is disabled while in use.
tap_is "$(cat /mnt/dafs/inner/file)" changed "an export is in use"
exec 3</mnt/dafs/inner
tap_run "take it away" unexport_dir inner
tap_is "$(LC_ALL=C stat /proc/self/fd/3/other 2>&1 | grep -c 'Stale file handle')" 1 \
	"what was open in it is stale"
exec 3<&-
tap_run "umount all of it" umount -R /mnt/dafs
tap_run "mount again" mount -t dafs -o noac $ADDR4:/ /mnt/dafs
tap_is "$(ls /mnt/dafs)" top "it is gone from the root"
tap_run "and back" export_dir inner inner /srv/disk1/plain/inner
tap_is "$(cat /mnt/dafs/inner/file)" changed "as it was"
tap_run "away again" unexport_dir inner
tap_fails "the name leads nowhere" cat /mnt/dafs/inner/file
tap_run "umount" umount /mnt/dafs

# The rights of clients with open files change; the contents do not.
mkdir -m 777 /srv/disk1/rights
export_dir rights rights /srv/disk1/rights
rights()
{
	for right; do
		echo "${right#*=}" >"$CONFIG/rights/${right%=*}" || return
	done
}
# through_open ERROR DD-OPTION...: writes to descriptor 3; prints the number of ERRORs
through_open()
{
	error=$1
	shift
	LC_ALL=C dd if=/dev/zero bs=4096 count=1 "$@" 2>&1 >&3 | grep -c "$error"
}
writes_through_open()
{
	dd if=/dev/zero bs=4096 count=1 "$@" 2>/dev/null >&3
}
# made_by_root: owner of a new file
made_by_root()
{
	: >/mnt/other/new
	stat -c %u:%g /srv/disk1/rights/new
	rm -f /srv/disk1/rights/new
}
mount -t dafs -o noac $ADDR4:/rights /mnt/other
exec 3>/mnt/other/kept
tap_run "write to a new file" writes_through_open oflag=direct
for setting in name path subtree_check raw_names; do
	tap_is "$(echo 1 | LC_ALL=C tee $CONFIG/rights/$setting 2>&1 >/dev/null |
		grep -c 'Device or resource busy')" 1 "$setting of an enabled export is settled"
done
tap_run "make the export read-only" rights read_only=1
tap_is "$(cat $CONFIG/rights/read_only)" 1 "which is seen"
tap_fails "no file is made" touch /mnt/other/new
tap_is "$(through_open 'Read-only file system' oflag=direct)" 1 "nor written by an open of before"
tap_is "$(through_open 'Read-only file system' conv=fsync)" 1 "not by the page cache either"
tap_fails "nor cut" truncate -s 0 /mnt/other/kept
tap_is "$(stat -c %s /srv/disk1/rights/kept)" 4096 "it is as it was"
tap_is "$(wc -c </mnt/other/kept)" 4096 "and can be read"
# when only the open refers to it
rm /srv/disk1/rights/kept
tap_run "make it writable" rights read_only=0
tap_run "the open is good for writing" writes_through_open oflag=direct
tap_run "and for the page cache" writes_through_open conv=fsync
exec 3>&-
tap_is "$(made_by_root)" 0:0 "root makes a file of its own"
exec 3>/mnt/other/kept
chmod 600 /mnt/other/kept
tap_run "squash root" rights root_squash=1
tap_is "$(made_by_root)" 65534:65534 "it makes one of the anonymous user"
tap_is "$(through_open 'Permission denied' oflag=direct)" 1 "who may not write what is root's"
tap_run "name another anonymous user" rights anon_uid=4321 anon_gid=1234
tap_is "$(made_by_root)" 4321:1234 "who is it from now on"
tap_fails "all ones is no user" sh -c "echo 4294967295 >$CONFIG/rights/anon_uid" 2>/dev/null
tap_is "$(cat $CONFIG/rights/anon_uid)" 4321 "and changes nothing"
tap_run "squash all, and root for itself no more" rights root_squash=0 all_squash=1
tap_is "$(made_by_root)" 4321:1234 "that is root, too"
tap_run "no squashing" rights all_squash=0
tap_is "$(made_by_root)" 0:0 "root is root again"
tap_run "and writes by its open" writes_through_open oflag=direct
exec 3>&-
(while :; do touch /mnt/other/busy; rm -f /mnt/other/busy; done) 2>/dev/null &
busy=$!
for uid in $(seq 100); do
	rights root_squash=$((uid % 2)) anon_uid=$uid || break
done
tap_is "$uid" 100 "rights change while files are made"
kill $busy
wait $busy
rights root_squash=1
tap_is "$(made_by_root)" 100:1234 "the last change counts"
umount /mnt/other
unexport_dir rights
rm -r /srv/disk1/rights

# Names that are not UTF-8 are refused, unless the export allows them.
cat >/tmp/names.py <<'END'
import errno, os, sys
top = os.fsencode(sys.argv[1])
names = [bytes([c]) for c in range(0x80, 0x100)] + [b"caf\xe9", b"\xff\xfe", b"\xed\xa0\x80"]
def refused(call, *args):
    try:
        call(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "taken"
def make(name):
    with open(name, "wb") as file:
        file.write(name)
if sys.argv[2:]:
    name = os.path.join(top, b"caf\xe9")
    make(top + b"/here")
    said = [refused(make, name), refused(os.mkdir, name), refused(os.symlink, "x", name),
            refused(os.rename, top + b"/here", name), refused(os.link, top + b"/here", name)]
    os.remove(top + b"/here")
    sys.exit(" ".join(said))
for name in names:
    make(os.path.join(top, name))
if sorted(os.listdir(top)) != sorted(names):
    sys.exit("listing")
for name in names:
    old, new = (os.path.join(top, n) for n in (name, b"new" + name))
    with open(old, "rb") as file:
        if file.read() != old:
            sys.exit("content")
    os.rename(old, new)
    os.link(new, old)
    os.remove(new)
    if os.stat(old).st_nlink != 1:
        sys.exit("links")
    os.remove(old)
    os.mkdir(old)
    os.symlink(name, old + b"/" + name)
    if os.readlink(old + b"/" + name) != name:
        sys.exit("link")
    os.remove(old + b"/" + name)
    os.rmdir(old)
print("fine", os.listdir(top))
END
mkdir /srv/disk1/latin
mount -t dafs $ADDR4:/top/disk1 /mnt/other
tap_is "$(python3 /tmp/names.py /mnt/other/latin refused 2>&1)" \
	"EINVAL EINVAL EINVAL EINVAL EINVAL" "names that are not UTF-8 are refused"
umount /mnt/other
mkdir $CONFIG/latin
echo 1 >$CONFIG/latin/raw_names
tap_run "export with raw names" sh -c "cd $CONFIG/latin && echo 0 >root_squash &&
	echo /srv/disk1/latin >path && echo 1 >enable"
tap_fails "which is settled while it is enabled" sh -c "echo 0 >$CONFIG/latin/raw_names" 2>/dev/null
mount -t dafs $ADDR4:/latin /mnt/other
tap_is "$(python3 /tmp/names.py /mnt/other 2>&1)" "fine []" "takes all of them"
python3 -c 'import os; os.mkdir(b"/mnt/other/\xe9"); open(b"/mnt/other/\xe9/\xe8", "w")'
tap_is "$(cd /srv/disk1/latin && find . | od -An -tx1 -v | tr -d ' \n')" 2e0a2e2fe90a2e2fe92fe80a \
	"as they are on disk"
umount /mnt/other
unexport_dir latin
mount -t dafs $ADDR4:/top/disk1/latin /mnt/other
tap_is "$(python3 -c '
import errno, os
print(len(os.listdir(b"/mnt/other")), end=" ")
try:
    open(b"/mnt/other/\xe9/\xe8")
except OSError as error:
    print(errno.errorcode[error.errno])
' 2>&1)" "1 EINVAL" "without the option they are seen, and not opened"
umount /mnt/other
rm -r /srv/disk1/latin

# Invalid names.
mkdir $CONFIG/bad
# refused WORDS: it is not enabled, and the log says why
refused()
{
	dmesg -C
	tap_fails "$1: it is refused" sh -c "echo 1 >$CONFIG/bad/enable" 2>/dev/null
	tap_is "$(dmesg | sed 's/.*dafsd: //; s/ (.*//')" "export $1" "and the log says so"
}
refused "bad: path is not set"
echo /srv/none >$CONFIG/bad/path
refused "bad: path leads to no directory"
echo /proc >$CONFIG/bad/path
refused "bad: the file system has no filehandles"
echo top/disk1/none >$CONFIG/bad/name
echo /srv/far >$CONFIG/bad/path
refused "top/disk1/none: an outer export lacks the directory"
for name in /a a/ a//b . a/../b ""; do
	tap_fails "the name '$name' is refused" sh -c "echo '$name' >$CONFIG/bad/name" 2>/dev/null
done
echo top/far >$CONFIG/bad/name
echo /srv/disk1 >$CONFIG/bad/path
refused "top/far: another one has this name"
rmdir $CONFIG/bad

# The ids of clients are used on the server without mapping.
cat >/tmp/idmap.py <<'END'
import ctypes, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    ret = libc.syscall(nr, *args)
    if ret < 0:
        sys.exit(f"call {nr}: {ctypes.get_errno()}")
    return ret
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
AT_FDCWD, AT_EMPTY_PATH, IDMAP = -100, 0x1000, 0x100000
source, target = (arg.encode() for arg in sys.argv[1:])
user = subprocess.Popen(["unshare", "-Ur", "sh", "-c", "echo; read end"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
user.stdout.readline()
with open(f"/proc/{user.pid}/ns/user") as ns:
    tree = call(OPEN_TREE, AT_FDCWD, source, 1)
    call(MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, struct.pack("4Q", IDMAP, 0, 0, ns.fileno()), 32)
    call(MOVE_MOUNT, tree, b"", AT_FDCWD, target, 4)
user.communicate(b"\n")
END
mkdir /srv/mapped
tap_run "a mount that maps ids" python3 /tmp/idmap.py /srv/disk1/plain /srv/mapped
dmesg -C
tap_fails "is not exported" export_dir mapped mapped /srv/mapped
tap_is "$(dmesg | sed 's/.*dafsd: //; s/ (.*//')" "export mapped: the mount is id-mapped" \
	"and the log says so"
umount /srv/mapped
mount --bind /srv/disk1/plain /srv/mapped
tap_run "without that it is" sh -c "echo 1 >$CONFIG/mapped/enable"
unexport_dir mapped
umount /srv/mapped
unexport_dir gap

# Options of the module parameter.
modprobe -r dafsd
for option in none anonuid=-1 anonuid=4294967295 anongid=x; do
	dmesg -C
	tap_fails "the option $option is refused" modprobe dafsd \
		exports=/srv/disk1:ro:$option:name=top 2>/dev/null
	tap_is "$(dmesg | sed -n 's/: -.*//; s/.*dafsd: //p')" "option $option of /srv/disk1 is wrong
cannot export /srv/disk1" "and the log says which it is"
done
tap_run "they are not missing" modprobe dafsd exports=/srv/disk1:ro:anonuid=99:name=top
tap_done
