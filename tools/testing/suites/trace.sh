# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The trace points of client and server, as documented in tracing.rst.
# bed: um
# timeout: 200

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null

setup_rxe
make_backing /srv/data 256
load_modules /srv/data:no_root_squash
echo 1 >$tracing/events/dafs/enable

# traced COMMAND...: runs it with tracing; the events are in /tmp/trace
traced()
{
	echo >$tracing/trace
	"$@"
	traced_status=$?
	cat $tracing/trace >/tmp/trace
	return $traced_status
}

# in_order PATTERN...: whether lines match the patterns in this order
in_order()
{
	awk 'BEGIN { for (i = 2; i < ARGC; i++) want[i] = ARGV[i]; ARGC = 2; at = 2 }
		at in want && $0 ~ want[at] { at++ }
		END { if (at in want) { print "no line: " want[at]; exit 1 } }' /tmp/trace "$@"
}

# Waits for events in the background.
has()
{
	cat $tracing/trace >/tmp/trace
	in_order "$@" >/dev/null
}

# Unloading a module with traced events clears the trace, so the server's are not enabled yet.
mount_dafs data /mnt/dafs || tap_bail "no mount"
restart()
{
	modprobe -r dafsd && modprobe dafsd exports=/srv/data:no_root_squash
}
exec 3<>/mnt/dafs/file
traced restart
eventually has 'dafs_recovered: ' 'dafs_session_state: .* down -> up$'
tap_silent "a restart of the server" in_order 'dafs_session_state: .* up -> down$' \
	'dafs_reclaim: .* err=0$' 'dafs_recovered: .* err=0$' 'dafs_session_state: .* down -> up$'
echo more >&3
exec 3>&-

# A restarted server does not know yet which exports it will have, and asks for time.
modprobe -r dafsd && modprobe dafsd
echo data >/srv/data/late
echo >$tracing/trace
stat /mnt/dafs/late >/dev/null &
late=$!
# so does recovery, in the background; the program's requests have its process id
asked="-$late .* dafs_retry: call attempt=1 server asks for time: pause, send again\$"
eventually has "$asked"
mount -t configfs none /sys/kernel/config 2>/dev/null
export=/sys/kernel/config/dafsd/exports/data
mkdir $export && echo /srv/data >$export/path && echo 0 >$export/root_squash &&
	echo 1 >$export/enable
tap_run "a call that the server asks to repeat succeeds" wait $late
cat $tracing/trace >/tmp/trace
tap_silent "it is repeated" in_order 'dafs_reply: .* status=10008 ' "$asked" \
	"-$late .* dafs_request: " "-$late .* dafs_op_result: .* status=0 "

umount /mnt/dafs

echo 1 >$tracing/events/dafsd/enable
tap_run "mount" traced mount_dafs data /mnt/dafs || tap_bail "no mount"
tap_silent "the session comes up at both ends" in_order \
	'dafsd_client: .* confirmed$' 'dafsd_conn_state: .* new -> ready$' \
	'dafs_session_state: server=10.9.0.1:20050 down -> up$'

traced cat /mnt/dafs/none 2>/dev/null
tap_silent "a failed call, from the client to its result" in_order \
	'dafs_request: .* LOOKUP ' 'dafs_rqst: .* LOOKUP ' 'dafsd_execute: .* LOOKUP run$' \
	'dafsd_executed: .* status=2$' 'dafs_rqst_reply: .* status=2 ' \
	'dafs_reply: .* LOOKUP status=2 '

open_and_close()
{
	: >/mnt/dafs/file
}
traced open_and_close
tap_silent "an open, and its end" in_order 'dafsd_opened: .* open=[0-9]' \
	'dafsd_closed: .* open=[0-9]'

# R-4.4.1.2-31: what is locked is unlocked before CLOSE.  R-4.4.1.2-09: ranges that touch are locked
# one by one.
echo 0 >/sys/module/dafsd/parameters/max_delegations
echo >$tracing/trace
python3 - /mnt/dafs/locked <<'END'
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
    fcntl.lockf(file, fcntl.LOCK_EX, 10, 10)
END
eventually has 'dafs_request: .* CLOSE '
tap_silent "locks end before their file is closed" in_order 'dafs_request: .* LOCK ' \
	'dafs_request: .* LOCK ' 'dafs_request: .* LOCKU ' 'dafs_request: .* CLOSE '

# OPEN does not return the number of the file that it makes.
new_file()
{
	echo new >/mnt/dafs/new && cat /mnt/dafs/new
}
traced new_file
tap_silent "the first attributes of a new file" in_order \
	"dafs_revalidate: .* ino=$(stat -c %i /srv/data/new) err=0\$"
tap_fails "they have its number" grep 'dafs_revalidate: .* ino=0 ' /tmp/trace

# Changes of others are detected at the next open, and cached data is dropped.
echo old >/mnt/dafs/file
cat /mnt/dafs/file >/dev/null
sync
sleep 0.1
echo new >/srv/data/file
traced cat /mnt/dafs/file
tap_silent "a change by others" in_order 'dafs_changed: .* by others$' 'dafs_zap: .* err=0$'

stat_changed()
{
	chmod 640 /srv/data/file
	sleep 3.5
	stat /mnt/dafs/file
}
traced stat_changed
tap_silent "attributes that have timed out" in_order 'dafs_revalidate: .* err=0$'

traced chmod 600 /mnt/dafs/file
tap_silent "the result of an operation" in_order 'dafs_op_result: SETATTR_INLINE status=0 err=0$'

# DISCONNECT is executed after all other requests, also one that a killed task has left behind.
waits_at_server()
{
	grep -qx 1 /sys/fs/dafsd/*/waiting
}
echo >$tracing/trace
fsfreeze -f /srv/data
chmod 640 /mnt/dafs/file &
task=$!
eventually has 'dafsd_execute: .* SETATTR_INLINE run$'
kill -9 $task
wait $task 2>/dev/null
umount /mnt/dafs &
task=$!
tap_run "a request waits" eventually waits_at_server
fsfreeze -u /srv/data
tap_run "umount" wait $task
eventually has 'dafsd_conn_state: .* ready -> closing$'
request=$(sed -n 's/.* dafsd_execute: \(chan=.*\) SETATTR_INLINE run$/\1/p' /tmp/trace)
tap_silent "it waits for the other one" in_order "dafsd_execute: $request SETATTR_INLINE run\$" \
	'dafsd_wait: .* DISCONNECT for the other requests$' "dafsd_executed: $request status=0\$" \
	'dafsd_resume: .* DISCONNECT waited$' 'dafsd_execute: .* DISCONNECT run$'
tap_silent "a session ends" in_order 'dafsd_conn_state: .* ready -> closing$'
tap_silent "and at the client" in_order 'dafs_session_state: .* -> dead$'
echo 0 >$export/enable && rmdir $export
tap_done
