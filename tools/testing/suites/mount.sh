# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Mount options, more than one mount, and the end of a mount that is in use.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 512
mkdir -p /srv/data/sub/dir /srv/second /mnt/dafs /mnt/other
echo inside >/srv/data/sub/dir/file
mkdir /srv/data/second /srv/data/many
python3 -c 'import os
for i in range(2000):
    os.link("/srv/data/sub/dir/file", "/srv/data/many/%d" % i)'
seq 0 1999 >/tmp/many
mount --bind /srv/data/second /srv/second
load_modules "/srv/data:no_root_squash,/srv/second:no_root_squash"
# what is counted below are opens of programs; a file that is delegated stays open
echo 0 >/sys/module/dafsd/parameters/max_delegations

has_option()
{
	tap_run "$2 is in /proc/mounts" grep -q "^$1 .*[, ]$2[, ]" /proc/mounts
}

lists_many()
{
	ls -U /mnt/dafs/many | sort -n | cmp - /tmp/many
}

# says NAME WANT COMMAND...: the command fails, and its output or the kernel log contains
# WANT.
says()
{
	says_name=$1 says_want=$2 says_failed=0
	shift 2
	dmesg -C
	says_text=$("$@" 2>&1) || says_failed=1
	says_text="$says_text $(dmesg)"
	case $says_failed$says_text in
	1*"$says_want"*) tap_ok "$says_name" ;;
	*)
		tap_not_ok "$says_name"
		[ $says_failed = 1 ] || tap_line "# it succeeded"
		tap_line "# wanted: $says_want"
		tap_line "# got: $(echo "$says_text" | tr '\n' ' ')"
		;;
	esac
}

tap_run "mount with options" mount_dafs data /mnt/dafs \
	soft,timeo=50,retrans=2,rsize=65536,wsize=32768,cksum,rdmaread,backchannel,actimeo=5
for option in soft timeo=50 retrans=2 rsize=65536 wsize=32768 cksum rdmaread backchannel respcache=volatile \
	acregmin=5 acregmax=5 acdirmin=5 acdirmax=5; do
	has_option "$ADDR4:/data" $option
done
tap_is "$(cat /mnt/dafs/sub/dir/file)" inside "read with checksums"
tap_run "2,000 entries, by message and by RDMA with checksums" lists_many
# R-6.5.29-04: the server lists neither.
tap_is "$(ls -a /mnt/dafs/sub/dir | tr '\n' ' ')" ". .. file " "a directory has . and .."
tap_is "$(ls -ai1 /mnt/dafs/sub/dir | awk '$2 == ".." { print $1 }')" \
	"$(stat -c %i /mnt/dafs/sub)" "which is the one above"
# mount(8) adds the options of fstab to a remount.
echo "$ADDR4:/data /mnt/fstab dafs noauto,rsize=1048576,wsize=1048576,nosharecache 0 0" >/tmp/fstab
mkdir /mnt/fstab
tap_run "mount by fstab" mount -T /tmp/fstab /mnt/fstab
tap_run "remount by fstab" mount -T /tmp/fstab -o remount,ro /mnt/fstab
tap_run "and by what /proc/mounts says" mount -o remount,rw /mnt/fstab
says "less than was granted" "rsize cannot change" mount -o remount,rsize=65536 /mnt/fstab
umount /mnt/fstab
tap_run "remount read-only" mount -o remount,ro /mnt/dafs
tap_fails "a read-only mount takes no file" touch /mnt/dafs/new
tap_run "remount read-write" mount -o remount,rw /mnt/dafs
for option in port=1 rsize=8192 wsize=8192 msgsize=4096 max_requests=3 nocksum \
	nordmaread nobackchannel sec=default respcache=none clientid=other srcaddr=10.9.0.9 \
	addr=10.9.0.9; do
	name=${option%%=*}
	name=${name#no}
	says "remount does not change $name" "dafs: $name cannot change by remounting" \
		mount -o "remount,$option" /mnt/dafs
done
says "nor to options that contradict each other" "acregmin exceeds acregmax" \
	mount -o remount,acregmin=9,acregmax=3 /mnt/dafs
for option in soft timeo=50 retrans=2 acregmin=5; do
	has_option "$ADDR4:/data" $option
done
tap_run "remount with other times" mount -o \
	remount,hard,timeo=70,retrans=4,acregmin=1,acregmax=9,acdirmin=2,acdirmax=8,nocto,lookupcache=pos \
	/mnt/dafs
for option in hard timeo=70 retrans=4 acregmin=1 acregmax=9 acdirmin=2 acdirmax=8 \
	nocto lookupcache=positive; do
	has_option "$ADDR4:/data" $option
done
tap_run "and back" mount -o remount,actimeo=5,cto,lookupcache=all /mnt/dafs
tap_fails "nocto is gone" grep -q nocto /proc/mounts

# cache= is short for other options; the last one counts.
# is_shown OPTIONS WANT: which of noac and nocto are shown after a remount with OPTIONS.
is_shown()
{
	mount -o "remount,$1" /mnt/dafs
	tap_is "$(sed -n 's|.* /mnt/dafs dafs \([^ ]*\) .*|\1|p' /proc/mounts | tr , '\n' |
		grep -E '^(noac|nocto|cache)' | tr '\n' ' ')" "$2" "remount,$1"
}
is_shown cache=none "noac "
is_shown cache=loose "nocto "
is_shown cache=strict ""
is_shown cache=none,cache=loose "nocto "
is_shown cache=loose,cache=none "noac "
is_shown cache=none,nocto "nocto noac "
is_shown nocto,cache=strict ""
is_shown noac,cache=loose "nocto "
is_shown cache=none,ac ""
is_shown cache=loose,cto ""
for value in fast "" NONE; do
	says "cache=$value" "Bad value for 'cache'" mount -o "remount,cache=$value" /mnt/dafs
done
is_shown cache=strict ""
has_option "$ADDR4:/data" acregmin=5

# A remount also applies to attributes that are already cached.
echo data >/srv/data/seen
chmod 644 /srv/data/seen
mode()
{
	stat -c %a /mnt/dafs/seen
}
user_may_read()
{
	setpriv --reuid=1000 --regid=1000 --clear-groups test -r /mnt/dafs/seen
}
tap_run "remount with long times" mount -o remount,actimeo=600 /mnt/dafs
tap_is "$(mode)" 644 "attributes are read"
tap_run "and a right is asked for" user_may_read
chmod 640 /srv/data/seen
tap_is "$(mode)" 644 "attributes are believed"
tap_run "and so is the right" user_may_read
tap_run "remount with no time" mount -o remount,actimeo=0 /mnt/dafs
tap_is "$(mode)" 640 "attributes are not believed any more"
tap_fails "nor is the right" user_may_read
mount -o remount,actimeo=600 /mnt/dafs
exec 3>/mnt/dafs/written
tap_run "remount with noac" mount -o remount,noac /mnt/dafs
has_option "$ADDR4:/data" noac
chmod 600 /srv/data/seen
tap_is "$(mode)" 600 "noac believes nothing that was read before"
echo data >&3
tap_is "$(cat /srv/data/written)" data "and what was open before is written synchronously"
tap_run "noac stays over a remount" mount -o remount,nocto /mnt/dafs
chmod 604 /srv/data/seen
tap_is "$(mode)" 604 "it did"
tap_run "remount with ac" mount -o remount,ac,cto /mnt/dafs
has_option "$ADDR4:/data" acregmin=600
mode >/dev/null
chmod 644 /srv/data/seen
tap_is "$(mode)" 604 "ac believes again"
exec 3>&-
mount -o remount,actimeo=5 /mnt/dafs
tap_is "$(findmnt -rn -o FSTYPE,SOURCE /mnt/dafs)" "dafs $ADDR4:/data" "findmnt"
size=$(df --output=size /srv/data | tail -n 1)
tap_is "$(df --output=source,fstype,size /mnt/dafs | tail -n 1 | tr -s ' ')" \
	"$ADDR4:/data dafs $((size / 4 * 4))" "df"
tap_is "$(df --output=iused,iavail /mnt/dafs | tail -n 1 | tr -s ' ')" \
	"$(df --output=iused,iavail /srv/data | tail -n 1 | tr -s ' ')" "df -i"
tap_run "the same export once more" mount_dafs data /mnt/other
echo both >/mnt/dafs/both
tap_is "$(cat /mnt/other/both)" both "one mount sees what the other wrote"
umount /mnt/other
tap_run "a folder below the export" mount_dafs data/sub/dir /mnt/other
tap_is "$(ls /mnt/other)" file "only that folder is there"
tap_run "statfs" stat -f /mnt/other
umount /mnt/other

# Statistics.
tap_run "mountstats knows the file system" \
	grep -q "^device $ADDR4:/data mounted on /mnt/dafs with fstype dafs *$" \
	/proc/self/mountstats
# The format that prometheus and nfs-utils parse: a longer device line is of NFS.
tap_is "$(awk '/^device / && NF > 8' /proc/self/mountstats)" "" "its line is like any other's"
# A parser like that of Prometheus (github.com/prometheus/procfs): a line that begins
# with "device" is a mount.  If it has more than eight words it must be NFS, followed
# by its statistics up to an empty line behind its operations; otherwise the whole file
# is rejected.  So NFS mounts before and behind a DAFS mount must be found, too.
cat >/tmp/parse.py <<'END'
NFS = '''device server:/nfs%d mounted on /nfs%d with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tage:\t1
\tbytes:\t1 2 3 4 5 6 7 8
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 7 7 0 44 24 0 0 0 0

'''
def nfs_block(lines):
    for line in lines:
        words = line.split()
        if not words or words[0] == "per-op":
            break
        if words[0] in ("opts:", "age:", "bytes:", "events:") and len(words) < 2:
            raise ValueError(line)
    ops = []
    for line in lines:
        words = line.split()
        if not words:
            break
        if len(words) < 9 or not all(word.isdigit() for word in words[1:]):
            raise ValueError(line)
        ops.append(words[0])
    return ops
def parse(text):
    lines = iter(text.splitlines())
    for line in lines:
        words = line.split()
        if not words or words[0] != "device":
            continue
        if len(words) < 8 or words[2:4] != ["mounted", "on"] or words[5:7] != ["with", "fstype"]:
            raise ValueError(line)
        if len(words) > 8 and words[7] not in ("nfs", "nfs4"):
            raise ValueError(line)
        yield words[4], words[7], nfs_block(lines) if len(words) > 8 else []
ours = open("/proc/self/mountstats").read()
found = list(parse(NFS % (1, 1) + ours + NFS % (2, 2)))
for mount, fstype, ops in found:
    if fstype != "nfs4" and mount != "/mnt/dafs":
        continue
    print(mount, fstype, len(ops))
END
tap_is "$(python3 /tmp/parse.py)" "/nfs1 nfs4 2
/mnt/dafs dafs 0
/nfs2 nfs4 2" "Prometheus finds it, and what stands before and behind it"
before=$(counted LOOKUP 1)
failed=$(counted LOOKUP 2)
stat /mnt/dafs/not-there 2>/dev/null
tap_is "$(counted LOOKUP 1)" $((before + 1)) "mountstats counts requests"
tap_is "$(counted LOOKUP 2)" $((failed + 1)) "and errors"
tap_run "and their bytes" [ "$(counted LOOKUP 4)" -ge $(((before + 1) * 64)) ]
tap_run "and their time" [ "$(counted LOOKUP 9)" -gt 0 ]
dd if=/dev/zero of=/mnt/dafs/zero bs=32k count=2 conv=fsync 2>/dev/null
tap_is "$(counted WRITE_DIRECT 1) $(counted WRITE_DIRECT 6)" "2 65536" \
	"bytes that go by RDMA"
tap_run "and regions for them" [ "$(counted WRITE_DIRECT 7)" -ge 2 ]
tap_run "a session that was never lost" grep -q "state=up,reconnects=0" \
	/proc/self/mountstats

# grew PROCEDURE COLUMN COMMAND...: difference of that number.
grew()
{
	grew_proc=$1 grew_column=$2
	shift 2
	grew_from=$(counted "$grew_proc" "$grew_column")
	"$@"
	echo $(($(counted "$grew_proc" "$grew_column") - ${grew_from:-0}))
}

# between LEAST MOST NUMBER NAME
between()
{
	tap_run "$4: $3 of $1 to $2" [ "$3" -ge "$1" -a "$3" -le "$2" ]
}
write_some()
{
	dd if=/dev/zero of=/mnt/dafs/some count=1 "$@" 2>/dev/null
}
read_some()
{
	dd if=/mnt/dafs/some of=/dev/null bs="$1" count=1 iflag=direct 2>/dev/null
}
append_some()
{
	dd if=/dev/zero of=/mnt/dafs/log bs="$1" count=1 oflag=append conv=notrunc 2>/dev/null
}
write_some bs=32k conv=fsync
# A message has between 40 and 300 bytes besides data.
between 700 1000 "$(grew WRITE_INLINE 4 write_some bs=700 oflag=direct conv=notrunc)" \
	"what is written by message is in the requests"
between 700 1000 "$(grew READ_INLINE 5 read_some 700)" "what is read so in the responses"
tap_is "$(grew READ_INLINE 6 read_some 700)" 0 "and not in what goes by RDMA"
tap_is "$(grew READ_DIRECT 6 read_some 32k)" 32768 "what is read by RDMA"
between 40 300 "$(grew READ_DIRECT 5 read_some 32k)" "is not in the responses"
between 40 300 "$(grew WRITE_DIRECT 4 write_some bs=32k conv=fsync)" \
	"nor is what is written by RDMA in the requests"
between 700 1000 "$(grew APPEND_INLINE 4 append_some 700)" "an append by message"
tap_is "$(grew APPEND_DIRECT 6 append_some 20000)" 20000 "one by RDMA"

# All numbers of a mount, read at once; the total must be their sum.
cat >/tmp/sums.py <<'END'
import re
text = open("/proc/self/mountstats").read()
text = text.split(" mounted on /mnt/dafs ")[1].split("\ndevice ")[0]
rows = [[int(n) for n in row.split()[1:]] for row in text.split("per-op statistics\n")[1].splitlines()]
columns = [sum(column) for column in zip(*rows)]
said = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", text.split("session:")[1])}
for name, column in ("total", 0), ("errors", 1), ("lost", 2), ("sent", 3), ("received", 4), \
        ("direct", 5), ("regions", 6):
    if said[name] != columns[column]:
        print(name, said[name], columns[column])
END
tap_is "$(python3 /tmp/sums.py)" "" "the totals are the sums of all procedures"

# Sessions in sysfs, on both sides.
here=$(echo /sys/fs/dafs/*)
there=$(echo /sys/fs/dafsd/*)
tap_is "$(cat "$here/server") $(cat "$here/state")" "$ADDR4:20050 up" \
	"the client's session is in sysfs"
tap_is "$(cat "$here/channels")" "operation rdma-read back-control" "with its channels"
tap_is "$(cat "$here/reconnects") $(cat "$here/outstanding")" "0 0" "it is idle"
tap_is "$(cut -d: -f1 "$there/peer") $(cat "$there/state")" "$ADDR4 ready" \
	"so is the server's"
tap_is "$(cat "$there/channels")" "operation rdma-read back-control" "with its channels, too"
tap_is "$(cat "$there/credits")" "$(cat "$here/credits")" "both agree on the credits"
tap_run "and on who the client is" grep -q "^Linux DAFS " "$there/client"
calls=$(cat "$here/statistics/calls")
requests=$(cat "$there/statistics/requests")
written=$(cat "$there/statistics/bytes_written")
errors=$(cat "$there/statistics/errors")
exec 5>/mnt/dafs/counted
tap_is "$(cat "$there/opens")" 1 "an open is counted"
head -c 5000 /dev/zero >&5
exec 5>&-
stat /mnt/dafs/missing 2>/dev/null
tap_is "$(cat "$there/opens")" 0 "and is not when it is closed"
tap_is "$(cat "$there/statistics/bytes_written")" $((written + 5000)) "bytes written"
tap_is "$(cat "$there/statistics/errors")" $((errors + 1)) "errors"
tap_is $(($(cat "$there/statistics/requests") - requests)) \
	$(($(cat "$here/statistics/calls") - calls)) "both count the same requests"
tap_is "$(find /sys/fs/dafs /sys/fs/dafsd -type f -perm /222 ! -name shutdown)" "" \
	"nothing else is writable"

# Readers do not delay the end of a session, nor see one that has ended.
(while :; do cat /sys/fs/dafs/*/* /sys/fs/dafs/*/statistics/* /sys/fs/dafsd/*/* \
	/sys/fs/dafsd/*/statistics/*; done) >/dev/null 2>&1 &
reader=$!
umount /mnt/dafs
for _ in 1 2 3 4 5; do
	mount_dafs data /mnt/dafs
	umount /mnt/dafs
done
kill $reader
wait $reader
no_sessions()
{
	[ "$(ls /sys/fs/dafs /sys/fs/dafsd | tr -d '\n')" = "/sys/fs/dafs:/sys/fs/dafsd:" ]
}
tap_run "with the mounts the sessions go" eventually no_sessions

# Age of a session in seconds
uptime_now()
{
	cut -d. -f1 /proc/uptime
}
before=$(uptime_now)
mount -t dafs "$ADDR4:/" /mnt/dafs
after=$(uptime_now)
sleep 2
least=$(($(uptime_now) - after - 1))
age=$(awk '$5 == "/mnt/dafs" { ours = 1 } ours && $1 == "age:" { print $2; exit }' \
	/proc/self/mountstats)
between $least $(($(uptime_now) + 1 - before)) "$age" "seconds since the mount"

# A submount shows the statistics of its session, which is that of the mount above.
cat /mnt/dafs/data/sub/dir/file >/dev/null
cat /proc/self/mountstats >/tmp/mountstats
# of_mount DIR: the part of mountstats that is the same for all mounts of a session.
of_mount()
{
	awk -v "dir=$1" '
		/^device / { ours = $5 == dir; next }
		ours && $1 != "opts:" && $1 != "age:" && $1 != "unstable:"' /tmp/mountstats
}
tap_run "a submount has numbers" [ "$(of_mount /mnt/dafs/data | wc -l)" -gt 5 ]
tap_is "$(of_mount /mnt/dafs/data)" "$(of_mount /mnt/dafs)" "those of the mount above"
umount /mnt/dafs

# stat_is FILE FORMAT WANT NAME
stat_is()
{
	tap_is "$(stat -c "$2" "$1")" "$3" "$4"
}

# Hard links: two names of one inode.
tap_run "mount for names" mount_dafs data /mnt/dafs
tap_run "the second export" mount_dafs second /mnt/other
names=/mnt/dafs/names
mkdir $names $names/dir
echo one >$names/file
tap_run "a hard link" ln $names/file $names/hard
stat_is $names/hard %h 2 "has two names"
stat_is $names/file %h 2 "by its other name, too"
tap_is "$(stat -c %i $names/hard)" "$(stat -c %i $names/file)" "and one inode"
tap_run "which test -ef sees" [ $names/hard -ef $names/file ]
stat_is /srv/data/names/hard %h 2 "the server has two names"
tap_is "$(stat -c %i /srv/data/names/hard)" "$(stat -c %i $names/file)" \
	"of the inode that clients see"
echo two >>$names/hard
tap_is "$(cat $names/file | tr '\n' ' ')" "one two " "what one name gets the other has"
tap_run "a link in another folder" ln $names/file $names/dir/third
stat_is $names/hard %h 3 "makes three names"
rm $names/file
tap_is "$(cat $names/dir/third | tr '\n' ' ')" "one two " "the others outlive the first"
stat_is $names/hard %h 2 "and are two"
ln -s nowhere $names/soft
tap_run "a link to a symbolic link" ln -P $names/soft $names/soft2
stat_is $names/soft2 "%F %h" "symbolic link 2" "is one"
says "a link that is there" "File exists" ln $names/hard $names/soft
says "a link to a folder" "not allowed for directory" ln $names/dir $names/dir2
says "a link to the other export" "cross-device" ln $names/hard /mnt/other/hard
says "a link with a name of 256 bytes" "too long" ln $names/hard "$names/$(printf %0256d 0)"
tap_run "one of 255 bytes" ln $names/hard "$names/$(printf %0255d 0)"
mkdir -p /mnt/other/a /mnt/other/b
echo shared >/mnt/other/a/file
tap_run "a link in an export of a folder" ln /mnt/other/a/file /mnt/other/b/file
tap_is "$(cat /mnt/other/b/file)" shared "is the file"
stat_is /mnt/other/b/file %h 2 "with two names"
rm /mnt/other/a/file
echo 2 >/proc/sys/vm/drop_caches
tap_is "$(cat /mnt/other/b/file)" shared "and stays when the first is gone"

# Objects of every type, with names of 255 bytes in 85 characters.
wide=$(printf '€%.0s' $(seq 85))
longest=$(printf %04095d 0)
kinds=$names/kinds
mkdir $kinds
(
	cd $kinds || exit
	umask 027
	mkdir "d${wide#€}"
	mkfifo "f${wide#€}"
	mknod "c${wide#€}" c 5 70000
	mknod "b${wide#€}" b 259 3
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	mv socket "s${wide#€}"
	ln -s "$longest" "l${wide#€}"
)
tap_run "a name of 255 bytes in UTF-8" touch "$kinds/$wide"
says "one of 258 bytes" "too long" touch "$kinds/€$wide"
for kind in "d:directory 750 0:0" "f:fifo 640 0:0" "c:character special file 640 5:70000" \
	"b:block special file 640 259:3" "s:socket 750 0:0" "l:symbolic link 777 0:0"; do
	what=${kind#*:}
	file="${kind%%:*}${wide#€}"
	stat_is "$kinds/$file" "%F %a %Hr:%Lr" "$what" "${what%% *}: on the mount"
	stat_is "/srv/data/names/kinds/$file" "%F %a %Hr:%Lr" "$what" "${what%% *}: at the server"
done
tap_is "$(readlink "$kinds/l${wide#€}")" "$longest" "a symbolic link of 4095 bytes"
says "one of 4096 bytes" "too long" ln -s "${longest}0" $kinds/longer
says "a folder over one that is not empty" "not empty" mv -T $names/dir $names/kinds
says "a folder into itself" "subdirectory of itself" mv $names/dir $names/dir/inside
umount /mnt/other /mnt/dafs
tap_run "mount with short messages" mount_dafs data /mnt/dafs msgsize=1024
tap_is "$(readlink "$kinds/l${wide#€}")" "$longest" "the long link comes by RDMA"
tap_run "2,000 entries by RDMA after a short message" lists_many
says "none so long can be made" "too long" ln -s "$longest" $kinds/longer
umount /mnt/dafs

tap_run "mount by IPv6" mount -t dafs "[$ADDR6]:/data" /mnt/dafs
tap_is "$(cat /mnt/dafs/sub/dir/file)" inside "read by IPv6"
umount /mnt/dafs

# A link-local address needs its interface, which /proc/mounts shows, too.
local6=$(ip -6 -o addr show dev dum0 scope link | awk '{ sub("/.*", "", $4); print $4; exit }')
tap_run "mount by $local6%dum0" mount -t dafs -o "srcaddr=$local6%dum0" "[$local6%dum0]:/data" \
	/mnt/dafs
tap_run "remount by what /proc/mounts says" mount -o remount,ro /mnt/dafs
tap_run "remount by what was said" mount -o "remount,rw,srcaddr=$local6%dum0" /mnt/dafs
umount /mnt/dafs

says "unknown option" "Unknown parameter" \
	mount -t dafs -o nonsense $ADDR4:/data /mnt/dafs
says "a value that is no number" "timeo" \
	mount -t dafs -o timeo=soon $ADDR4:/data /mnt/dafs

# A busy mount that is lazily unmounted can be used until it is idle, and ends then.
mount_dafs data /mnt/dafs
exec 5</mnt/dafs/sub/dir/file
tap_fails "no umount while a file is open" umount /mnt/dafs
tap_run "but a lazy one" umount -l /mnt/dafs
tap_fails "nobody finds it any more" mountpoint -q /mnt/dafs
tap_is "$(cat <&5)" inside "and the file can be read"
exec 5<&-

# no_sessions: waits until the last one has ended, on both sides.
no_sessions()
{
	while [ "$(ls /sys/fs/dafs /sys/fs/dafsd | tr -d '\n')" != /sys/fs/dafs:/sys/fs/dafsd: ]; do
		sleep 0.1
	done
}
tap_run "with that the session ends" no_sessions
cat >/tmp/lazy.py <<'END'
import mmap, os, subprocess, sys
text = open("/tmp/many", "rb").read() * 50
fds = [os.open(f"/mnt/dafs/lazy{i}", os.O_RDWR | os.O_CREAT) for i in range(2)]
os.ftruncate(fds[1], len(text))
mapped = mmap.mmap(fds[1], len(text))
os.close(fds[1])
subprocess.run(["umount", "-l", "/mnt/dafs"], check=True)
os.write(fds[0], text)
mapped[:] = text
os.close(fds[0])
mapped.close()
END
mount_dafs data /mnt/dafs
for _ in $(seq 50); do cat /tmp/many; done >/tmp/lazy
tap_run "what is written after a lazy umount" python3 /tmp/lazy.py
tap_run "and closed, is at the server" cmp /tmp/lazy /srv/data/lazy0
tap_run "and so is what a mapping held" cmp /tmp/lazy /srv/data/lazy1
tap_run "the last one to use it ends the session" no_sessions
tap_run "umount -f of a server that answers" sh -c \
	"mount -t dafs $ADDR4:/data /mnt/dafs && umount -f /mnt/dafs"
tap_fails "unmounts" mountpoint -q /mnt/dafs

# Two mounts of one export share a super block, unless they differ in relevant options.
sessions()
{
	find /sys/fs/dafs -mindepth 1 -maxdepth 1 | wc -l
}
mount_dafs data /mnt/dafs
tap_run "the same export once more" mount_dafs /data/ /mnt/other
tap_is "$(sessions) $(stat -c %d /mnt/dafs)" "1 $(stat -c %d /mnt/other)" \
	"is the same file system on one session"
echo cached >/mnt/dafs/shared
before=$(counted OPEN 1)
exec 5</mnt/dafs/shared
tap_is "$(cat /mnt/other/shared) $(counted OPEN 1)" "cached $((before + 1))" "with one cache"
flock 5
tap_fails "and one set of locks" flock -n /mnt/other/shared true
exec 5<&-
tap_run "remount of one" mount -o remount,acregmin=2 /mnt/other
tap_is "$(grep -c acregmin=2 /proc/mounts)" 2 "is one of the other"
umount /mnt/other
tap_is "$(cat /mnt/dafs/shared) $(sessions)" "cached 1" "it outlives the other"
tap_run "one as it was remounted" mount_dafs data /mnt/other acregmin=2
tap_is "$(sessions)" 1 "is the same"
umount /mnt/dafs
tap_is "$(cat /mnt/other/shared) $(sessions)" "cached 1" "the second outlives the first, too"
for option in nosharecache ro sync soft timeo=50 retrans=9 rsize=65536 wsize=65536 noac nocto \
	actimeo=7 lookupcache=none cksum rdmaread nobackchannel max_requests=9 msgsize=8192 \
	sec=default respcache=none clientid=other "srcaddr=$ADDR4" "addr=$ADDR6" nconnect=2; do
	mount_dafs data /mnt/dafs "acregmin=2,$option"
	[ "$(sessions)" = 2 ] || echo "$option: $(sessions) sessions"
	umount /mnt/dafs
done >/tmp/shared
tap_is "$(cat /tmp/shared)" "" "what matters to the session or the cache is not shared"
mount_dafs data/sub /mnt/dafs acregmin=2
tap_is "$(sessions)" 2 "nor is another path"
umount /mnt/dafs /mnt/other
mount_dafs data /mnt/dafs nosharecache
mount_dafs data /mnt/other nosharecache
tap_is "$(sessions)" 2 "nosharecache twice"
umount /mnt/dafs /mnt/other

# umount -f ends waiting calls, but not a session that other mounts may use.
mount_dafs data /mnt/dafs
mount_dafs data /mnt/other
modprobe -r dafsd
cat /mnt/other/sub/dir/file >/tmp/cat.said 2>&1 &
waiter=$!
until [ "$(cat /sys/fs/dafs/*/state)" = down ]; do sleep 0.1; done
tap_run "who reads from one of two waits" waits_for_server $waiter
umount -f /mnt/other 2>/dev/null
tap_fails "umount -f of one of two ends a wait" wait $waiter
tap_run "with EIO" grep -q "Input/output error" /tmp/cat.said
! mountpoint -q /mnt/other || umount -l /mnt/other
modprobe dafsd "exports=/srv/data:no_root_squash,/srv/second:no_root_squash"
until [ "$(cat /sys/fs/dafs/*/state)" = up ]; do sleep 0.1; done
tap_is "$(cat /mnt/dafs/sub/dir/file)" inside "the other works when the server is back"
umount /mnt/dafs

# Nor a submount in use.
mount -t dafs "$ADDR4:/" /mnt/dafs
cp /srv/data/sub/dir/file /srv/second/file
ls /mnt/dafs/second >/dev/null
exec 5</mnt/dafs/data/sub/dir/file
modprobe -r dafsd
cat /mnt/dafs/second/file >/tmp/cat.said 2>&1 &
waiter=$!
until [ "$(cat /sys/fs/dafs/*/state)" = down ]; do sleep 0.1; done
tap_run "who reads below waits" waits_for_server $waiter
tap_fails "umount -f of what is above" umount -f /mnt/dafs 2>/dev/null
tap_fails "ends a wait" wait $waiter
modprobe dafsd "exports=/srv/data:no_root_squash,/srv/second:no_root_squash"
until [ "$(cat /sys/fs/dafs/*/state)" = up ]; do sleep 0.1; done
tap_is "$(cat <&5)" inside "what is open below works when the server is back"
tap_is "$(cat /mnt/dafs/second/file)" inside "and what is beside it"
exec 5<&-
umount -R /mnt/dafs

# Without the other mount it ends the session.
mount_dafs data /mnt/dafs
mount_dafs data /mnt/other
umount /mnt/other
exec 5</mnt/dafs/sub/dir/file
umount -f /mnt/dafs 2>/dev/null
tap_fails "umount -f of the last of two fails what follows" stat -f /mnt/dafs
exec 5<&-
umount /mnt/dafs

# A machine has the same client-id-string after a reboot; it does not disclose
# the machine-id.
known_as()
{
	modprobe -r dafs && modprobe dafs "$@" && mount_dafs data /mnt/dafs || return
	cat /sys/fs/dafsd/*/client
	umount /mnt/dafs
	no_sessions
}
id=0123456789abcdef0123456789abcdef
name=$(known_as machine_id=$id)
case $name in
"Linux DAFS "*) tap_ok "the name of a client: $name" ;;
*) tap_not_ok "the name of a client: $name" ;;
esac
tap_is "$(known_as machine_id=$id)" "$name" "is the same for the same machine"
tap_is "$({ echo "$name" && known_as machine_id=1$id && known_as && known_as; } |
	grep '^Linux DAFS ' | sort -u | wc -l)" 4 "another for another, and each time for none"
case $name in
*0123456789*) tap_not_ok "the name does not tell the id" ;;
*) tap_ok "the name does not tell the id" ;;
esac

# The server's client-id of a client that mounts with OPTIONS.
# shellcheck disable=SC2120 # by tap_fails
client_id()
{
	mount_dafs data /mnt/dafs "clientid=instance${1:+,$1}" || return
	cat /sys/fs/dafsd/*/client_id
	umount /mnt/dafs
	no_sessions
}
first_client_id()
{
	modprobe -r dafsd && modprobe dafsd "exports=/srv/data:no_root_squash" && client_id
}
# R-2.4.3-02: the verifier of a client changes when its module is loaded again,
# and only then; it identifies the instance.
first=$(client_id)
tap_is "$(client_id)" "$first" "one instance of a client has one client-id"
modprobe -r dafs
modprobe dafs
# R-3.1.1.3-04: the server knows the former instance and its authentication type.
says "another user is not the same client" "another client has this clientid" \
	client_id sec=default
second=$(client_id)
tap_run "the same user is, another instance of it" \
	[ "${second:-$first}" != "$first" ]
# R-4.4.1.2-01: a restarted server assigns another client-id.
first=$(first_client_id)
second=$(first_client_id)
tap_run "a restarted server uses no client-id again: $first $second" \
	[ "${second:-$first}" != "$first" ]

# R-E.1-01: one buffer of a program is registered with two devices.
ip link add dum1 type dummy && ip addr add 10.9.1.1/24 dev dum1 &&
	ip link set dum1 mtu 9000 up && rdma link add rx1 type rxe netdev dum1
regions_of()
{
	rdma resource show mr dev "$1" | grep -c "^dev $1 "
}
cat >/tmp/adapters.py <<'END'
import mmap, os
SIZE = 65536
buf = mmap.mmap(-1, SIZE)
data = os.urandom(SIZE)
def regions(mount):
    text = open("/proc/self/mountstats").read()
    text = text.split(f" mounted on {mount} ")[1].split("\ndevice ")[0]
    return int(text.split("regions=")[1].split()[0])
with open("/srv/data/adapters", "wb") as file:
    file.write(data)
for mount in "/mnt/dafs", "/mnt/other":
    fd = os.open(mount + "/adapters", os.O_RDONLY | os.O_DIRECT)
    before = regions(mount)
    buf[:] = bytes(SIZE)
    if os.preadv(fd, [buf], 0) == SIZE and buf[:] == data:
        print(regions(mount) - before, end=" ")
END
mount_dafs data /mnt/dafs
before=$(regions_of rx1)
tap_run "a mount by a second device" mount -t dafs 10.9.1.1:/data /mnt/other
tap_is "$(python3 /tmp/adapters.py)" "1 1 " "both read into one buffer, by a region each"
tap_run "which the second device has: $before, $(regions_of rx1)" \
	[ "$(regions_of rx1)" -gt "$before" ]
umount /mnt/other /mnt/dafs
rdma link delete rx1

# Tasks that wait for a dead server can be killed.
mount_dafs data /mnt/dafs hard,timeo=600
modprobe -r dafsd
stat /mnt/dafs/sub/late >/tmp/stat.said 2>&1 &
waiter=$!
sleep 1
tap_run "a hard mount waits" kill -0 $waiter
tap_run "remount,soft of a dead server" timeout 60 mount -o remount,soft,retrans=1 /mnt/dafs
wait $waiter
tap_is "$(grep -c "timed out" /tmp/stat.said)" 1 "lets the waiter go with ETIMEDOUT"
tap_run "umount -f of a dead server" timeout 60 umount -f /mnt/dafs
mountpoint -q /mnt/dafs && umount -l /mnt/dafs

# umount -f ends all waiting calls, on hard mounts, too: reads and write-back.
modprobe dafsd "exports=/srv/data:no_root_squash"
mount_dafs data /mnt/dafs hard
exec 5</mnt/dafs/sub/dir/file
mkfifo /tmp/feed
dd if=/tmp/feed of=/mnt/dafs/unsynced conv=fsync 2>/tmp/dd.said &
writer=$!
exec 6>/tmp/feed
until [ -e /srv/data/unsynced ]; do sleep 0.1; done
modprobe -r dafsd
cat <&5 >/dev/null 2>/tmp/cat.said 6>&- &
reader=$!
cat /tmp/many >&6
exec 6>&-
tap_run "a reader waits for the server" waits_for_server $reader
tap_run "and so does fsync" waits_for_server $writer
umount -f /mnt/dafs 2>/dev/null
wait $reader
tap_fails "umount -f lets the reader go" [ $? = 0 ]
tap_run "with EIO" grep -q "Input/output error" /tmp/cat.said
wait $writer
tap_fails "and who waits for fsync" [ $? = 0 ]
tap_run "with EIO, too" grep -q "fsync.*Input/output error" /tmp/dd.said
cat /tmp/cat.said /tmp/dd.said
tap_fails "whoever comes later gets it at once" sh -c "cat <&5 2>/tmp/cat.said"
tap_run "the same" grep -q "Input/output error" /tmp/cat.said
exec 5<&-
tap_run "now it can be unmounted" umount /mnt/dafs
tap_is "$(ls /sys/fs/dafs)" "" "and the session is gone"

# Without umount -f: umount waits for a dead server only if there is dirty data, not
# because of open files, read-ahead, or direct I/O of killed tasks.
cat >/tmp/holder.py <<'END'
import mmap, os, sys, time
fd = os.open("/mnt/dafs/sub/dir/read", os.O_RDONLY)
out = os.open("/mnt/dafs/held", os.O_RDWR | os.O_CREAT)
direct = os.open("/mnt/dafs/held", os.O_RDWR | os.O_DIRECT)
open("/tmp/holds", "w").close()
while not os.path.exists("/tmp/gone"):
    time.sleep(0.1)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
if sys.argv[1] == "dirty":
    os.pwrite(out, b"lost", 0)
os.remove("/tmp/holds")
if sys.argv[1] == "direct":
    # in several requests
    os.pwrite(direct, mmap.mmap(-1, 4 << 20), 0)
time.sleep(1000)
END
head -c 1000000 /dev/zero >/srv/data/sub/dir/read
# leave_server clean|direct|dirty: unloads the server, and then kills the user of the mount
leave_server()
{
	rm -f /tmp/gone
	modprobe dafsd "exports=/srv/data:no_root_squash"
	mount_dafs data /mnt/dafs hard
	python3 /tmp/holder.py "$1" &
	holder=$!
	until [ -e /tmp/holds ] || ! kill -0 $holder 2>/dev/null; do sleep 0.1; done
	modprobe -r dafsd
	touch /tmp/gone
	while [ -e /tmp/holds ] && kill -0 $holder 2>/dev/null; do sleep 0.1; done
	[ "$1" != direct ] || waits_for_server $holder
	kill -9 $holder
	wait $holder
}
# umount(8) would stat the mount point at the server
cat >/tmp/umount.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.umount2(b"/mnt/dafs", 0):
    sys.exit(os.strerror(ctypes.get_errno()))
END
leave_server clean
tap_run "umount of a dead server when nothing was written" timeout 60 python3 /tmp/umount.py
tap_is "$(ls /sys/fs/dafs)" "" "which ends the session"
leave_server direct
tap_run "umount after a direct writer was killed" timeout 60 python3 /tmp/umount.py
tap_is "$(ls /sys/fs/dafs)" "" "which ends the session, too"
leave_server dirty
python3 /tmp/umount.py &
waiter=$!
until ! grep -q ' /mnt/dafs ' /proc/mounts || ! kill -0 $waiter; do sleep 0.1; done
tap_run "umount waits to have on the server what was written" waits_for_server $waiter
tap_is "$(cat /sys/fs/dafs/*/shutdown)" 0 "where umount -f finds nothing"
tap_run "a session is told to end" sh -c 'echo 1 >"$(echo /sys/fs/dafs/*/shutdown)"'
tap_run "so does umount" wait $waiter
tap_is "$(ls /sys/fs/dafs)" "" "and the session"
modprobe dafsd "exports=/srv/data:no_root_squash"
mount_dafs data /mnt/dafs
echo 1 >"$(echo /sys/fs/dafs/*/shutdown)"
tap_is "$(cat /sys/fs/dafs/*/shutdown)" 1 "it is said to have ended"
tap_fails "what is mounted fails" stat -f /mnt/dafs
mount_dafs data /mnt/other
tap_run "another mount does not share that" stat -f /mnt/other
tap_run "both can be unmounted" umount /mnt/dafs /mnt/other
modprobe -r dafsd
tap_done
