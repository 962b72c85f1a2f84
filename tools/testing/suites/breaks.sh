# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Connections are lost at every stage of requests, again and again, while programs change things:
# each operation is executed once, and the data is right.
# bed: um
# timeout: 240
#
# breaks:SECONDS goes on for so long.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data A=/mnt/dafs FAULTS=/sys/kernel/debug/fail_dafs PROGRAMS="1 2 3"
seconds=${1:-20}

# inject STAGE INTERVAL: what is to go wrong, every so many requests
inject()
{
	echo "$2" >"$FAULTS/$1/interval" && echo 0 >"$FAULTS/$1/verbose" &&
		echo "-1" >"$FAULTS/$1/times" && echo 100 >"$FAULTS/$1/probability"
}

# How often the mount has connected again, by all paths
reconnects()
{
	sed -n "/ on \/mnt\/dafs /,/^device/s/.*session:.*,reconnects=//p" /proc/self/mountstats
}

setup_rxe
make_backing $D 128
load_modules $D:no_root_squash
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
tap_run "four connections" mount_dafs data $A nconnect=4
gcc -O2 -Wall -Werror -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
for program in $PROGRAMS; do
	mkdir $A/"$program"
done
for stage in send arrived executed answered; do
	tap_run "connections are lost: $stage" inject $stage 40
done
tap_run "and requests are late" inject delay 50
for program in $PROGRAMS; do
	"$BED/../guests/once.py" $A/"$program" /tmp/over >/tmp/records."$program" 2>&1 &
	eval "once$program=$!"
done
tap_run "data is right, meanwhile" /tmp/fsx -s 7 -t "$seconds" -b $D/file -o /tmp/copy $A/file
# shellcheck disable=SC2188 # makes the file
>/tmp/over
for program in $PROGRAMS; do
	eval "wait \$once$program"
	tap_is $? 0 "program $program has ended"
	records=$(cat /tmp/records."$program")
	tap_is "$(sha256sum <$D/"$program"/log)" "$(seq -f %08g 0 $((records - 1)) | sha256sum)" \
		"its $records records are there, once"
	tap_is "$(ls $D/"$program")" log "of its names nothing is left"
done
tap_line "# $(reconnects) connections were lost"
tap_run "many connections were lost" [ "$(reconnects)" -ge 10 ]
for stage in "$FAULTS"/*/probability; do
	echo 0 >"$stage"
done
tap_run "umount" umount $A
tap_run "unload" modprobe -r dafs dafsd
tap_done
