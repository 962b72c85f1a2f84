# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A disk hangs, or a file system is frozen: clients of other exports do not notice.
# bed: um
# timeout: 240
#
# shellcheck disable=SC2016 # for the shells that are started

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/good 128

# The other one is on a mapped device, which can be suspended with all its requests.
# How much one export's requests may take is tested by dafs_liveness; here are many
# tasks, most of which wait at their client.
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

# others WHAT: a client that is there and one that comes work on
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

# busy COMMAND: so many tasks of each client use the other export
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

# end WHAT: they all come to a good end
end()
{
	failed=0
	for pid in $tasks; do
		wait "$pid" || failed=$((failed + 1))
	done
	tap_is $failed 0 "$1: who waited goes on"
}

sync
echo 3 >/proc/sys/vm/drop_caches
dmsetup suspend --nolockfs --noflush bad
busy 'cat /mnt/bad$n/d/f$i >/dev/null'
others "a disk hangs"
dmsetup resume bad
end "a disk hangs"

fsfreeze -f /srv/bad
busy 'echo data >/mnt/bad$n/d/new$n.$i'
others "a file system is frozen"
fsfreeze -u /srv/bad
end "a file system is frozen"

umount /mnt/good /mnt/bad[1-5]
unload_modules
umount /srv/bad
dmsetup remove bad
tap_done
