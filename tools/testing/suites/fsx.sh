# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Random reads and writes of every kind by two clients; fsx:SEED, fsx:SEED:SECONDS[:MODE].
# bed: um
# timeout: 600
# may-log: EXT4-fs error (device dm-0)
#
# An hour of one mode, in a guest of its own; as many at once as there is memory:
#	tools/testing/bed/um --memory 1G --timeout 7200 \
#		tools/testing/suites/fsx.sh 7:3600:two
# The modes: one two part bytes cksum small restart cut crash soft disk; and ext4, which
# is the latter without DAFS.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
mkdir /srv/data/part
EXPORTS=/srv/data:no_root_squash,/srv/data/part:no_root_squash
EXPORTS=$EXPORTS,/srv/disk:no_root_squash
gcc -O2 -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
seed=${1:-7}
seconds=7 only=
case $seed in
*:*)
	seconds=${seed#*:}
	seed=${seed%%:*}
	case $seconds in
	*:*)
		only=${seconds#*:}
		seconds=${seconds%%:*}
		;;
	esac
	;;
esac

wanted()
{
	[ "${only:-$1}" = "$1" ]
}

disturber=

# compare MODE EXPORT ARGUMENT...: fsx; the server must have the same data.
compare()
{
	mode=$1 stored=/srv/$2/file
	shift 2
	tap_run "$mode, seed $seed" /tmp/fsx -s "$seed" -o /tmp/copy \
		-w "sh $BED/../fsx/witness.sh $stored /tmp/quiet" "$@"
	# a difference ends it early, in the middle of a fault perhaps
	touch /tmp/enough
	[ -z "$disturber" ] || wait "$disturber"
}

# work MODE EXPORT OPTIONS MOUNTS ARGUMENT...: by one mount or two, which are
# different clients
work()
{
	mode=$1 export=$2 options=$3 mounts=$4
	shift 4
	files=
	for mount in $mounts; do
		mount_dafs "$export" "/mnt/$mount" "clientid=$mount,$options" ||
			tap_bail "no mount"
		files="$files /mnt/$mount/file"
	done
	# shellcheck disable=SC2086 # a list of names
	compare "$mode" "$export" -b "/srv/$export/file" "$@" $files
	for mount in $mounts; do
		umount "/mnt/$mount"
	done
	tap_run "$mode: the server has the same" cmp /tmp/copy "/srv/$export/file"
}

# model MODE EXPORT OPTIONS MOUNTS ARGUMENT...
model()
{
	! wanted "$1" || work "$@" -t "$seconds"
}

# disturb COMMAND: runs COMMAND, which makes a fault and ends it, again and again, but
# not while another process holds the lock.
disturb()
{
	# if this ends early, fsx does not wait for the disk
	trap 'printf %s "$failing" >>/tmp/failing; touch /tmp/enough' EXIT
	failing=
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt $end ] && ! [ -e /tmp/enough ]; do
		sleep $(($(date +%N | tail -c 2) / 4)).5
		exec 9>/tmp/quiet
		flock 9
		! "$1" 9>&- || echo >>/tmp/faults
		exec 9>&-
	done
}

# disturbed COMMAND FUNCTION MODE ARGUMENT...: FUNCTION, as model, but COMMAND again
# and again meanwhile
disturbed()
{
	wanted "$3" || return
	rm -f /tmp/enough /tmp/faults /tmp/failing
	disturb "$1" &
	disturber=$!
	shift
	"$@" -u /tmp/enough
	disturber=
	tap_run "$mode: faults meanwhile" [ -s /tmp/faults ]
	tap_line "# $mode: $(wc -l </tmp/faults) faults"
}

start_server()
{
	modprobe dafsd exports=$EXPORTS
}

restart_server()
{
	modprobe -r dafsd && start_server
}

# The device below all connections is removed, and another one is added.
cut_channels()
{
	rdma link delete rx0
	rdma link add rx0 type rxe netdev dum0
}

restart()
{
	restart_server
	sleep 2
	cut_channels
}

# Longer than a soft mount waits.
leave()
{
	modprobe -r dafsd && sleep 4 && start_server
}

sectors=$((64 * 2048))
disk=/dev/mapper/disk
whole="0 $sectors linear /dev/ram1 0"

# With a failing disk, data is journaled: ext4 loses data that it writes in place,
# without an error, if a page fails once and is written again.
data=ordered
start_disk()
{
	e2fsck -f -y $disk >/tmp/e2fsck 2>&1
	[ $? -le 1 ] && mount -t ext4 -o data=$data $disk /srv/disk && return
	cat /tmp/e2fsck
	tap_bail "the file system on the disk is lost"
}

stop_disk()
{
	until umount /srv/disk; do sleep 0.1; done
}

# The file system is mounted again from the disk.
reboot_disk()
{
	stop_disk
	disk_table "$whole"
	start_disk
}

# The same with a restart of the server.
reboot_server()
{
	reboot_disk
	start_server
}

# The server loses data that is only in memory.
crash()
{
	modprobe -r dafsd
	disk_table "0 $sectors flakey /dev/ram1 0 0 1 1 drop_writes"
	reboot_server
}

# All writes fail, until the file system shuts down.  From then on ext4 reads blocks in
# place on the disk after their pages are dropped: data that is only in the journal is
# not found, and a hole that a failed write has filled shows the old contents of its
# blocks.  So fsx is told when that begins, and when the journal has been replayed.
break_disk()
{
	printf b >>/tmp/failing
	failing=e
	disk_table "0 $sectors flakey /dev/ram1 0 0 1 1 error_writes"
	sleep 1
}

# Repairs the disk; returns the status of the command before.
repaired()
{
	status=$?
	printf e >>/tmp/failing
	failing=
	return $status
}

fail_disk()
{
	break_disk
	modprobe -r dafsd
	reboot_server
	repaired
}

fail_ext4()
{
	break_disk
	reboot_disk
	repaired
}

# Blocks smaller than pages: several in a page, and writes to parts of them.
dmsetup create disk --table "$whole" && mkfs.ext4 -q -F -b 1024 $disk ||
	tap_bail "no disk that fails"
mkdir /srv/disk
start_disk
load_modules $EXPORTS
model one data hard one
model two data hard "one two"
model part data/part hard "one two"
model bytes data hard "one two" -a 1
model cksum data cksum "one two"
model small data rsize=16384,wsize=4096,msgsize=4096 "one two"
# An append that is pending when the server goes away cannot be sent again.
disturbed restart work restart data hard "one two" -f append
disturbed cut_channels work cut data hard "one two" -f append
disturbed crash work crash disk hard "one two" -f append
disturbed leave work soft data soft,timeo=10,retrans=1 one -f all
if wanted disk; then
	data=journal
	modprobe -r dafsd
	reboot_server
fi
disturbed fail_disk work disk disk hard "one two" -f disk -d /tmp/failing
if [ "$only" = ext4 ]; then
	data=journal,sync
	modprobe -r dafsd
	reboot_disk
	disturbed fail_ext4 compare ext4 disk -L -f disk -d /tmp/failing /srv/disk/file
fi
tap_done
