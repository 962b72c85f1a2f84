# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Mounts with several connections, by several addresses, and the address that takes over when
# the server's does not answer any more.
# bed: um
# timeout: 200

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data A=/mnt/a SECOND=10.9.0.5 NOBODY=10.9.0.77
LOCATIONS=/sys/kernel/config/dafsd/exports/data/failover_locations

# The addresses that the connections of the mount lead to
paths()
{
	sed -n "/ on \/mnt\/a /,/^device/s/.*path:.*server=\([^,]*\):20050,state=up,.*/\1/p" \
		/proc/self/mountstats | sort | tr '\n' ' '
}

has_paths()
{
	[ "$(paths)" = "$1" ]
}

# at_server NUMBER: it has so many sessions
at_server()
{
	[ "$(find /sys/fs/dafsd -mindepth 1 -maxdepth 1 | wc -l)" = "$1" ]
}

setup_rxe
ip addr add $SECOND/24 dev dum0
make_backing $D 64
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
modprobe dafsd exports=$D:no_root_squash lease=30 && modprobe dafs ||
	tap_bail "the modules do not load"

# --- how many ---

tap_run "three connections" mount_dafs data $A nconnect=3
tap_run "all of them are there" eventually has_paths "$ADDR4 $ADDR4 $ADDR4 "
tap_run "also for the server" at_server 3
tap_run "the mount tells" grep -q "$A dafs .*,nconnect=3" /proc/mounts
dd if=/dev/urandom of=/tmp/random bs=64k count=32 2>/dev/null
sum=$(sha256sum </tmp/random)
tap_run "written by them" dd if=/tmp/random of=$A/file bs=64k oflag=direct
echo 3 >/proc/sys/vm/drop_caches
tap_is "$(sha256sum <$A/file)" "$sum" "and read"
tap_run "a remount gives more" mount -o remount,nconnect=5 $A
tap_run "which come" eventually at_server 5
(while [ ! -e /tmp/over ]; do
	mkdir $A/dir && rmdir $A/dir || echo "failed" >>/tmp/failed
done) &
changer=$!
tap_run "or fewer" mount -o remount,nconnect=1 $A
tap_run "which go" eventually at_server 1
tap_is "$(paths)" "$ADDR4 " "the mount has one"
tap_run "and more again" mount -o remount,nconnect=4 $A
tap_run "which are there" eventually at_server 4
# shellcheck disable=SC2188 # makes the file
>/tmp/over
wait $changer
tap_fails "nothing has failed meanwhile" cat /tmp/failed
tap_run "umount" umount $A
tap_run "none is left" eventually at_server 0

# --- where to ---

tap_run "two addresses" mount_dafs data $A "addr=$SECOND"
tap_run "a connection to each" eventually has_paths "$ADDR4 $SECOND "
tap_run "the mount tells of them" grep -q "$A dafs .*,addr=$SECOND" /proc/mounts
tap_run "a remount by what it tells" mount -o remount,rw $A
tap_fails "but not to others" mount -o "remount,addr=$ADDR6" $A
tap_fails "nor to fewer connections than addresses" mount -o remount,nconnect=1 $A
umount $A
tap_run "a family each, and two connections more" mount_dafs data $A "addr=[$ADDR6],nconnect=4"
tap_run "which a remount may repeat" mount -o "remount,addr=[$ADDR6]" $A
tap_run "alone, too" mount --options-mode ignore -o "remount,addr=$ADDR6,nconnect=4" $A
tap_fails "but not with another one" mount -o "remount,addr=$SECOND" $A
tap_run "in turn" eventually has_paths "$ADDR4 $ADDR4 [$ADDR6] [$ADDR6] "
umount $A
tap_run "an address where nobody is" mount_dafs data $A "addr=$NOBODY"
tap_run "its connection goes to another one" eventually has_paths "$ADDR4 $ADDR4 "
umount $A

# --- who else ---

tap_is "$(cat $LOCATIONS)" "" "an export is nowhere else"
for wrong in here "$ADDR4" "host:/data" "$ADDR4:/data,"; do
	tap_fails "'$wrong' is refused" sh -c "echo '$wrong' >$LOCATIONS"
done
mkdir -p $A

# goes_on WHEN: a mount by the second address goes on by the export's other one.
goes_on()
{
	cp /tmp/random $A/other
	exec 5<$A/other
	rm -f /tmp/end
	(while [ ! -e /tmp/end ]; do
		mkdir $A/dir && rmdir $A/dir || echo "failed" >>/tmp/failed
	done) &
	changer=$!
	ip addr del $SECOND/24 dev dum0
	tap_run "$1: the mount goes on there when its own is gone" eventually has_paths "[$ADDR6] "
	# shellcheck disable=SC2188 # makes the file
	>/tmp/end
	wait $changer
	tap_fails "nothing has failed" cat /tmp/failed
	tap_is "$(sha256sum <&5)" "$sum" "files are open still"
	exec 5<&-
	tap_run "umount of it" umount $A
	ip addr add $SECOND/24 dev dum0
}

tap_run "the export has another address" sh -c "echo '[$ADDR6]:/data' >$LOCATIONS"
tap_is "$(cat $LOCATIONS)" "[$ADDR6]:/data" "as it shows"
tap_run "a mount by the second address" mount -t dafs -o timeo=10 "$SECOND:/data" $A
# R-5.3-02
goes_on "it was told by then"
tap_run "it has a wrong one" sh -c "echo '$NOBODY:/data' >$LOCATIONS"
tap_run "a mount once more" mount -t dafs -o timeo=10 "$SECOND:/data" $A
tap_run "the address is corrected" sh -c "echo '[$ADDR6]:/data' >$LOCATIONS"
# R-5.3.1-02 R-6.1.3-06
stat $A >/dev/null
sleep 3
goes_on "it was told of the change"
tap_run "unload" modprobe -r dafs dafsd
tap_done
