# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Connections are lost at every stage of requests, again and again, while programs change things:
# each operation is executed once, the data is right, and nothing is left behind.
# bed: um
# timeout: 240
#
# breaks:SECONDS goes on for so long.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data A=/mnt/dafs PROGRAMS="1 2 3"
PARAMETERS=/sys/module/dafs/parameters BANK=$BED/../posix/bank.py
seconds=${1:-20}

# What the connections of both ends have, when nothing happens
resources()
{
	rdma resource show >/tmp/resources && sed 's/.*: //; s/ *$//' /tmp/resources
}

# is_as_before: the lost connections have left nothing
is_as_before()
{
	[ "$(resources)" = "$before" ]
}

setup_rxe
make_backing $D 128
load_modules $D:no_root_squash
tap_run "four connections" mount_dafs data $A nconnect=4
tap_fails "a pause is at least 1 ms" sh -c "echo 0 >$PARAMETERS/reconnect_min_delay_ms"
tap_fails "and at most an hour" sh -c "echo 3600001 >$PARAMETERS/reconnect_max_delay_ms"
gcc -O2 -Wall -Werror -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
for program in $PROGRAMS; do
	mkdir $A/"$program"
done
python3 -B "$BANK" make $A/bank.db || tap_bail "no database"
ls -l $A >/dev/null
before=$(resources) || tap_bail "rdma tells no resources"
tap_run "connections are lost, and requests are late" lose_connections 40
for program in $PROGRAMS; do
	"$BED/../guests/once.py" $A/"$program" /tmp/over >/tmp/records."$program" 2>&1 &
	eval "once$program=$!"
done
python3 -B "$BANK" work $A/bank.db bank /tmp/bank --until /tmp/over &
bank=$!
tap_run "data is right, meanwhile" /tmp/fsx -s 7 -t "$seconds" -b $D/file -o /tmp/copy $A/file
# shellcheck disable=SC2188 # makes the file
>/tmp/over
for program in $PROGRAMS; do
	eval "wait \$once$program"
	tap_is $? 0 "program $program has ended"
	records=$(cat /tmp/records."$program")
	tap_run "it has done something" [ "$records" -gt 0 ]
	tap_is "$(sha256sum <$D/"$program"/log)" "$(seq -f %08g 0 $((records - 1)) | sha256sum)" \
		"its $records records are there, once"
	tap_is "$(ls $D/"$program")" log "of its names nothing is left"
done
tap_run "transactions have ended" wait $bank
keep_connections
tap_run "there were some" [ -s /tmp/bank ]
tap_run "the database has them, once" python3 -B "$BANK" check $A/bank.db /tmp/bank
tap_run "there are as many queues and regions as before" eventually is_as_before ||
	tap_line "# $before, now $(resources)"
tap_line "# $(reconnects) connections were lost"
tap_run "many connections were lost" [ "$(reconnects)" -ge 50 ]
tap_run "umount" umount $A
tap_run "unload" modprobe -r dafs dafsd
tap_done
