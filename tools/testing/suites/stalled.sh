# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A disk hangs, or a file system is frozen: clients of other exports are not affected.
# bed: um
# timeout: 240
#
# shellcheck disable=SC2016 # for the shells that are started

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/good 128

# The other one is on a mapped device, which can be suspended with all its requests.
# The share of one export is tested by dafs_liveness; here are many tasks, most of
# which wait at their client.
MANY=32
CLIENTS="1 2 3 4 5"
make_backing /srv/bad 128
disk=$backing_disk
umount /srv/bad
if ! dmsetup create bad --table "0 262144 linear $disk 0" ||
   ! mount -t ext4 /dev/mapper/bad /srv/bad; then
	tap_bail "no mapped device"
fi
mkdir /srv/bad/d
for i in $(seq $MANY); do
	head -c 65536 /dev/zero >"/srv/bad/d/f$i"
done
load_modules "/srv/good:no_root_squash,/srv/bad:no_root_squash"
tap_run "a client of one export" mount_dafs good /mnt/good clientid=one
for i in $CLIENTS; do
	tap_run "client $i of the other" mount_dafs bad "/mnt/bad$i" "clientid=bad$i"
done

# others WHAT: an existing and a new client are served
others()
{
	tap_run "$1: another export is read and written" timeout 60 sh -c '
		mkdir /mnt/good/d && echo data >/mnt/good/d/f && sync /mnt/good/d/f &&
		[ "$(cat /mnt/good/d/f)" = data ] && ls -l /mnt/good/d && rm -r /mnt/good/d'
	mkdir -p /mnt/new
	tap_run "$1: a new client mounts it" timeout 60 \
		mount -t dafs -o clientid=new "$ADDR4:/good" /mnt/new
	tap_run "$1: uses it" timeout 60 sh -c 'echo new >/mnt/new/f && rm /mnt/new/f'
	tap_run "$1: and goes" timeout 60 umount /mnt/new
}

# busy COMMAND: many tasks of each client use the other export
busy()
{
	tasks=
	for n in $CLIENTS; do
		for i in $(seq $MANY); do
			n=$n i=$i sh -c "$1" &
			tasks="$tasks $!"
		done
	done
	sleep 2
	waiting=0
	for pid in $tasks; do
		! kill -0 "$pid" || waiting=$((waiting + 1))
	done
	tap_is $waiting $((MANY * 5)) "all of them wait"
}

# end WHAT: waits until all tasks have ended successfully
end()
{
	# shellcheck disable=SC2086 # a list
	wait_all $tasks
	tap_is $failed 0 "$1: who waited goes on"
}

sync
echo 3 >/proc/sys/vm/drop_caches
dmsetup suspend --nolockfs --noflush bad
busy 'cat /mnt/bad$n/d/f$i >/dev/null'
others "a disk hangs"
dmsetup resume bad
end "a disk hangs"

# Disabling an export closes its files, and waits for the file system in the
# administrator's task.  Other administration does not wait.
CONFIG=/sys/kernel/config/dafsd/exports
mount -t configfs none /sys/kernel/config 2>/dev/null
exec 3<>/mnt/bad1/d/f1
rm /srv/bad/d/f1
mkdir $CONFIG/more
fsfreeze -f /srv/bad
echo 0 >$CONFIG/bad/enable &
disable=$!
sleep 1
tap_run "the frozen export is being taken away" kill -0 $disable
tap_run "another one is made meanwhile" timeout 30 sh -c \
	"cd $CONFIG/more && echo /srv/good >path && echo 1 >enable"
tap_run "looked at" timeout 30 grep -q /srv/good $CONFIG/more/path
tap_run "and taken away" timeout 30 sh -c "echo 0 >$CONFIG/more/enable && rmdir $CONFIG/more"
tap_run "which the frozen one still is" kill -0 $disable
fsfreeze -u /srv/bad
tap_run "until its file system is thawed" wait $disable
exec 3<&-
tap_run "it comes back" sh -c "echo 1 >$CONFIG/bad/enable"

fsfreeze -f /srv/bad
busy 'echo data >/mnt/bad$n/d/new$n.$i'
others "a file system is frozen"
fsfreeze -u /srv/bad
end "a file system is frozen"

# Two exports below one mount share a session; the blocked export must not use up its
# requests before the session has grown.
mkdir -p /mnt/both
echo good >/srv/good/file
tap_run "one client of both" mount -t dafs -o clientid=both,noac "$ADDR4:/" /mnt/both
tap_run "goes into them" ls /mnt/both/good /mnt/both/bad/d
fsfreeze -f /srv/bad
tasks=
for i in $(seq 12); do
	: >"/mnt/both/bad/d/both$i" &
	tasks="$tasks $!"
done
sleep 1
tap_is "$(timeout 30 cat /mnt/both/good/file)" good "a dozen wait for one, the other is read"
fsfreeze -u /srv/bad
end "one of two below a mount is frozen"

umount -R /mnt/both
umount /mnt/good /mnt/bad[1-5]
unload_modules
umount /srv/bad
dmsetup remove bad
tap_done
