# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The OCF resource agent (tools/ocf/dafsd): what a cluster manager asks of it.
# bed: um
# timeout: 120

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data STATE=/mnt/state EXPORTS=/sys/kernel/config/dafsd/exports
RUNNING=0 GENERIC=1 ARGS=2 UNIMPLEMENTED=3 INSTALLED=5 CONFIGURED=6 STOPPED=7

# agent ACTION [NAME=VALUE...]: with parameters that are right but for these
agent()
{
	action=$1
	shift
	env OCF_RESKEY_exports="$D:no_root_squash,$D/sub:ro:name=more/sub" \
		OCF_RESKEY_state_dir=$STATE/dafs \
		OCF_RESKEY_servers="192.0.2.7 $ADDR4 2001:db8::7 $ADDR6" \
		OCF_RESKEY_options="lease=30 max_sessions=100" "$@" \
		ocf-dafsd "$action" 2>/tmp/said
}

# ends STATUS NAME ACTION [NAME=VALUE...]
ends()
{
	wanted=$1 what=$2
	shift 2
	agent "$@" >/dev/null
	tap_is $? "$wanted" "$what"
}

setup_rxe
make_backing $D 64
make_backing $STATE 32
mkdir $D/sub
modprobe dafs || tap_bail "the client does not load"

agent meta-data >/tmp/meta
tap_is $? 0 "meta-data"
tap_run "it is XML, and has all actions and parameters" python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse("/tmp/meta").getroot()
assert root.tag == "resource-agent" and root.get("name") == "dafsd"
assert {a.get("name") for a in root.iter("action")} == {
    "start", "stop", "monitor", "validate-all", "meta-data"}
assert {p.get("name") for p in root.iter("parameter")} == {
    "exports", "state_dir", "servers", "respcache", "options"}'
ends $UNIMPLEMENTED "an action that there is not" promote
ends $UNIMPLEMENTED "no action" ""
ends 0 "the parameters are right" validate-all
ends $CONFIGURED "without exports" validate-all OCF_RESKEY_exports=
ends $CONFIGURED "without a state directory" start OCF_RESKEY_state_dir=
ends $CONFIGURED "a response cache that there is not" start OCF_RESKEY_respcache=most
tap_run "the agent says so" grep -q "respcache=most" /tmp/said
mkdir /tmp/path && ln -s /bin/false /tmp/path/modinfo
ends $INSTALLED "a node without the module" validate-all "PATH=/tmp/path:$PATH"
ends $STOPPED "it does not run" monitor
ends 0 "what does not run is stopped" stop
ends $ARGS "a directory that there is not" start OCF_RESKEY_exports=$D,/srv/none
ends $ARGS "a state directory that there is not" start
tap_run "the agent says so" grep -q "$STATE/dafs is no directory" /tmp/said
tap_fails "and makes none" [ -e $STATE/dafs ]
mkdir $STATE/dafs
ends $GENERIC "an option that there is not" start OCF_RESKEY_exports=$D:fast
ends $STOPPED "none of these runs" monitor

modprobe dafsd
ends $STOPPED "a module without exports" monitor
ends $GENERIC "is not taken for it" start
tap_run "the agent says why" grep -q "another state directory" /tmp/said
ends 0 "it need not be stopped" stop
tap_run "and goes on" modprobe -r dafsd
modprobe dafsd exports=$D,$STATE state_dir=$STATE/dafs
ends $GENERIC "nor is one with other exports" start
modprobe -r dafsd

ends 0 "it starts" start
ends $RUNNING "and runs" monitor
echo >$EXPORTS/data/failover_locations
ends 0 "what runs is started, and told again what was lost" start
tap_is "$(cat /sys/module/dafsd/parameters/lease)" 30 "with the other parameters"
tap_is "$(cat /sys/module/dafsd/parameters/respcache)" stable "with a stable response cache"
tap_is "$(cat $EXPORTS/data/failover_locations)" "192.0.2.7:/data,[2001:db8::7]:/data" \
	"clients are told of the other nodes"
tap_is "$(cat "$(grep -lx more/sub $EXPORTS/*/name | xargs dirname)/failover_locations")" \
	"192.0.2.7:/more/sub,[2001:db8::7]:/more/sub" "for each export"
tap_run "a client mounts" mount_dafs data /mnt/dafs
tap_run "and writes" sh -c 'echo here >/mnt/dafs/file'
tap_run "an export is disabled" sh -c "echo 0 >$EXPORTS/data/enable"
ends $GENERIC "then it does not run well" monitor
tap_run "it is enabled" sh -c "echo 1 >$EXPORTS/data/enable"
ends $RUNNING "and runs well again" monitor

tap_run "a program has a file open" sh -c 'sleep 1000 </mnt/dafs/file & echo $! >/tmp/pid'
ends 0 "it stops beside clients" stop
ends $STOPPED "and is stopped" monitor
tap_run "its file systems can be unmounted" umount $D
mount "/dev/ram0" $D
ends 0 "it starts again" start
tap_is "$(cat /mnt/dafs/file)" here "the mount goes on"
kill "$(cat /tmp/pid)"

mkdir $EXPORTS/mine
ends $GENERIC "an export made by hand is in the way" stop
ends $GENERIC "and is not enabled" monitor
rmdir $EXPORTS/mine
eventually umount /mnt/dafs
ends 0 "it stops" stop
ends 0 "without servers and options" start OCF_RESKEY_servers= OCF_RESKEY_options=
tap_is "$(cat $EXPORTS/data/failover_locations)" "" "no other nodes"
ends 0 "and stops" stop
tap_done
