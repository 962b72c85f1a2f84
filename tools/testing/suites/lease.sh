# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Idle mounts keep their state, and the state of dead clients is freed.
# bed: um
# timeout: 180

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
cp /bin/true /srv/data/prog
modprobe dafs

# Without delegations, because a program that asks whether a file is open would wait
# until a dead client's is revoked.
start_server()
{
	modprobe dafsd exports=/srv/data:no_root_squash max_delegations=0 "$@"
}

# The server's kernel refuses to execute a program that is open for writing.
is_open()
{
	! /srv/data/prog 2>/dev/null
}

# The only session
session()
{
	ls /sys/fs/dafsd
}

# idle_for NUMBER: waits until an idle mount has sent NUMBER requests
idle_for()
{
	was=$(cat /sys/fs/dafsd/*/statistics/requests)
	for _ in $(seq 3000); do
		now=$(cat /sys/fs/dafsd/*/statistics/requests) || return
		[ $((now - was)) -lt "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

start_server lease=2
tap_is "$(cat /sys/module/dafsd/parameters/lease)" 2 "a lease of two seconds"
mount_dafs data /mnt/dafs
exec 3<>/mnt/dafs/prog
tap_run "a file is open" is_open

# R-4.4.1.1-05 R-6.1.6-03: one NULL for a third of the lease, so nine are three leases
first=$(session)
tap_run "an idle mount gives signs of life" idle_for 9
tap_is "$(session)" "$first" "its session is the same"
tap_run "and its file is open" is_open

# A server may restart with another lease time, which mounts must learn.
end_server
start_server lease=90
tap_run "the mount is connected to a restarted server" stat -f /mnt/dafs
end_server
start_server lease=2
tap_run "and to one with a shorter lease" stat -f /mnt/dafs
first=$(session)
tap_run "which it heeds" idle_for 9
tap_is "$(session)" "$first" "so it keeps its session"
tap_run "and its file" is_open
echo "exit 7" >&3
exec 3<&-
tap_is "$(head -n 1 /srv/data/prog)" "exit 7" "the file is good as ever"
umount /mnt/dafs

# Mounts that are killed, unmounted by force or never seen again
end_server
start_server lease=20 courtesy=0
cp /bin/true /srv/data/prog
mount_dafs data /mnt/dafs
python3 -c 'import time; f = open("/mnt/dafs/prog", "r+b"); open("/tmp/held", "w"); time.sleep(999)' &
holder=$!
until [ -e /tmp/held ]; do sleep 0.1; done
umount -f /mnt/dafs
kill -9 $holder
wait $holder
! grep -q ' /mnt/dafs ' /proc/mounts || umount /mnt/dafs
tap_run "a client that went without a word still has its file open" is_open
for _ in $(seq 600); do
	is_open || break
	sleep 0.2
done
tap_fails "until its lease has gone by" is_open
# A client that vanishes and comes back with its name: its lease need not expire.
# vanish COMMAND...: a client with an open file is cut off; a new one connects after
# COMMAND.
vanish()
{
	rm -f /tmp/held
	cp /bin/true /srv/data/prog
	modprobe dafs machine_id=first
	mount_dafs data /mnt/dafs
	python3 -c 'import time; f = open("/mnt/dafs/prog", "r+b"); open("/tmp/held", "w"); time.sleep(999)' &
	holder=$!
	until [ -e /tmp/held ]; do sleep 0.1; done
	umount -f /mnt/dafs 2>/dev/null
	kill -9 $holder
	wait $holder
	! grep -q ' /mnt/dafs ' /proc/mounts || umount /mnt/dafs
	modprobe -r dafs
	modprobe dafs "$1"
	mount_dafs data /mnt/dafs
}

HOLD=$BED/../posix/hold.py
courteous()
{
	[ "$(cat /sys/module/dafsd/parameters/courteous)" = "$1" ]
}
local_try()
{
	python3 -B "$HOLD" try /srv/data/text
}
# cut_off: the client has a lock, and loses its lease
cut_off()
{
	rm -f /tmp/locked /tmp/go
	python3 -B "$HOLD" hold /mnt/dafs/text /tmp/locked /tmp/go >/tmp/wrote &
	holder=$!
	eventually [ -e /tmp/locked ] && [ "$(local_try)" = locked ] || return
	ip link set dum0 down
	eventually courteous 1
}
# back: the program goes on; /tmp/wrote has what has become of its write
back()
{
	ip link set dum0 up
	ip addr add "$ADDR6/64" dev dum0 nodad 2>/dev/null
	rdma link delete rx0
	rdma link add rx0 type rxe netdev dum0
	stat -f /mnt/dafs >/dev/null
	touch /tmp/go
	wait $holder
}
modprobe -r dafs dafsd
start_server lease=3
echo text >/srv/data/text
modprobe dafs
mount_dafs data /mnt/dafs
# R-4.4.1.2-23 R-4.4.1.2-24
tap_run "a client without its lease" cut_off
tap_run "is listed as such" sh -c "dafsdctl clients | grep -q ' courteous$'"
back
tap_is "$(cat /tmp/wrote)" written "has its lock still when it is back"
tap_run "and its lease again" courteous 0
tap_is "$(head -c 4 /srv/data/text)" held "what it has written is there"
tap_run "a client without its lease again" cut_off
tap_is "$(local_try)" free "a program of the server gets the lock"
tap_run "so the client has lost all" courteous 0
back
tap_is "$(cat /tmp/wrote)" EIO "its program is told so"
umount /mnt/dafs
modprobe -r dafs dafsd
start_server lease=3600
vanish machine_id=first
tap_fails "a client that is back has nothing open any more" is_open
umount /mnt/dafs
modprobe -r dafs
vanish machine_id=second
tap_run "the files of another one are open" is_open
umount /mnt/dafs
tap_run "fsck of the export" sh -c "modprobe -r dafs dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
