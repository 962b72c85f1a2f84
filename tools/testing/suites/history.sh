# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Random locks, reads, writes and renames of two clients and of the server, while the server,
# connections and programs are lost: the history is consistent; history:SEED:ROUNDS:OPTIONS.
# bed: um
# timeout: 300
#
# An hour or so, in a guest of its own:
#	tools/testing/bed/um --timeout 7200 tools/testing/suites/history.sh 7:100
# With mount options that break what is tested, this must fail:
#	tools/testing/run history:1:1:local_lock=all

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

seed=$(echo "${1:-1}" | cut -d : -f 1)
rounds=$(echo "${1:-}" | cut -d : -f 2 -s)
options=$(echo "${1:-}" | cut -d : -f 3 -s)
OPERATIONS=20		# of each client between two faults
H=$BED/../history
A=/mnt/a B=/mnt/b D=/srv/disk WORK=/tmp/history
sectors=$((64 * 2048))
disk=/dev/mapper/disk
disk_is="0 $sectors linear /dev/ram0 0"

setup_rxe
# The second client has a link of its own, so that it can be cut off alone.
ip link add dum1 type dummy && ip addr add 10.9.1.1/24 dev dum1 &&
	ip link set dum1 mtu 9000 up && rdma link add rx1 type rxe netdev dum1 ||
	tap_bail "no second soft-RoCE device"
modprobe brd rd_nr=1 rd_size=$((sectors / 2))
mkdir -p $D $WORK
dmsetup create disk --table "$disk_is" && mkfs.ext4 -q -F $disk &&
	mount -t ext4 $disk $D || tap_bail "no disk"
modprobe dafs

start_server()
{
	modprobe dafsd exports=$D:no_root_squash state_dir=$D/.state
}

grace_is_over()
{
	grep -qx 0 /sys/module/dafsd/parameters/grace
}

# start_worker CLIENT DIR [--local]: each has a number of its own
workers=0
start_worker()
{
	workers=$((workers + 1))
	# shellcheck disable=SC2086 # nothing, if it is not local
	nice python3 -B "$H/worker.py" --seed "$seed" --client "$1" --number $workers ${3:-} \
		"$2/work" "$WORK/$1" /tmp/stop &
	echo "$! $1.$workers" >"/tmp/last.$1"
	pids="$pids $!"
}

# kill_worker CLIENT: the last one that was started
kill_worker()
{
	read -r victim name <"/tmp/last.$1"
	event kill begin "$name"
	kill -9 "$victim"
	wait "$victim" 2>/dev/null
	event kill end "$name"
	pids=$(echo "$pids " | sed "s/ $victim / /")
}

# event NAME begin|end [CLIENT]: as history.py does; this is the clock of Python's
# time.monotonic() if the machine does not sleep, to hundredths.
events=0
event()
{
	read -r now _ </proc/uptime
	client=null
	[ -z "${3:-}" ] || client="\"$3\""
	if [ "$2" = begin ]; then
		events=$((events + 1))
		what="\"op\": \"fault\", \"name\": \"$1\", \"t\": $now"
	else
		what="\"result\": \"ok\", \"value\": null, \"t\": ${now}999"
	fi
	echo "{\"who\": \"fault $events\", \"client\": $client, \"n\": 1, $what}" >>$WORK/faults
}

# Local programs must not lock what clients have not reclaimed yet, and the disk is not
# unmounted while they use it.
stop_server()
{
	kill_worker server
	event "$1" begin
	end_server
}

go_on()
{
	start_server
	event "$1" end
	tap_run "the grace period ends" eventually grace_is_over
	start_worker server $D --local
}

fault_restart()
{
	stop_server restart
	go_on restart
}

# What is only in the server's memory is lost.
fault_crash()
{
	stop_server crash
	disk_table "0 $sectors flakey /dev/ram0 0 0 1 1 drop_writes"
	until umount $D; do sleep 0.1; done
	disk_table "$disk_is"
	mount -t ext4 $disk $D || tap_bail "the file system is lost"
	go_on crash
}

# cut_device CLIENT DEVICE LINK
cut_device()
{
	event cut begin "$1"
	rdma link delete "$2"
	rdma link add "$2" type rxe netdev "$3"
	event cut end "$1"
}

fault_cut()
{
	cut_device one rx0 dum0
}

# As a lease that has run out; the first client must get what the second had locked.
fault_lose()
{
	id=$(dafsdctl clients | grep 'name="[^"]*two"\| name=[^ ]*two ' |
		grep -oE '(^| )client=[^ ]+' | cut -d = -f 2)
	event lose begin two
	rdma link delete rx1
	tap_run "the client that is cut off is ended" dafsdctl expire "$id"
	works_on one
	rdma link add rx1 type rxe netdev dum1
	works_on two
	event lose end two
}

fault_program()
{
	kill_worker one
	start_worker one $A
}

logged()
{
	stat -c %s "$WORK/$1"
}

# logs CLIENT SIZE: asks rarely, because new processes take long on this bed
logs()
{
	for _ in $(seq 600); do
		[ "$(logged "$1")" -lt "$2" ] || return 0
		sleep 1
	done
	return 1
}

# works_on CLIENT...: some dozen operations of each, more than programs begin that then wait
works_on()
{
	goals=
	for client; do
		goals="$goals $client:$(($(logged "$client") + OPERATIONS * 200))"
	done
	for goal in $goals; do
		tap_run "${goal%:*} goes on" logs "${goal%:*}" "${goal#*:}"
	done
}

# In another order for each seed and round
faults()
{
	printf '%s\n' restart crash cut lose program |
		shuf --random-source="$(yes "$seed $1" | head -c 1000 >/tmp/seed; echo /tmp/seed)"
}

touch $WORK/one $WORK/two $WORK/server
start_server
mkdir $D/work
python3 -B "$H/history.py" make $D/work
sync -f $D
tap_run "one client" mount_dafs disk $A "clientid=one,$options"
mkdir $B
tap_run "another client, on another link" mount -t dafs -o "clientid=two,$options" \
	10.9.1.1:/disk $B
pids=
for _ in 1 2; do
	start_worker one $A
	start_worker two $B
done
start_worker server $D --local
works_on one two server
for round in $(seq "${rounds:-1}"); do
	for fault in $(faults "$round"); do
		tap_line "# seed $seed, round $round: $fault"
		"fault_$fault"
		[ "$fault" = lose ] || works_on one two
	done
	works_on server
done
touch /tmp/stop
for pid in $pids; do
	tap_run "a worker ends" wait "$pid"
done
python3 -B "$H/history.py" read $WORK/end $D/work
tap_run "the history is consistent, seed $seed" python3 -B "$H/check.py" $WORK/*
tap_run "umount" umount $A $B
tap_run "fsck of the export" sh -c "modprobe -r dafsd; umount $D && e2fsck -f -n $disk"
dmsetup remove disk
tap_done
