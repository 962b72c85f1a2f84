# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Servers that go and come back, links that go down, devices that vanish.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 200
load_modules /srv/data:no_root_squash
mkdir -p /mnt/dafs /mnt/soft
dd if=/dev/urandom of=/tmp/random bs=1M count=24 2>/dev/null

start_server()
{
	modprobe dafsd exports=/srv/data:no_root_squash
}

stop_server()
{
	modprobe -r dafsd
}

# The server is removed while a hard mount writes, and comes back.
mount_dafs data /mnt/dafs timeo=100
dd if=/tmp/random of=/mnt/dafs/load bs=256k conv=fsync 2>/dev/null &
writer=$!
sleep 1
tap_run "the server's module unloads under load" stop_server
sleep 2
tap_run "the writer waits" kill -0 $writer
cat /mnt/dafs/load >/dev/null 2>&1 &
reader=$!
start_server
tap_run "the writer finishes" wait $writer
tap_run "the reader finishes" wait $reader
tap_run "nothing was lost" cmp /tmp/random /srv/data/load
tap_run "mountstats tells of it" grep -q "state=up,reconnects=[1-9]" /proc/self/mountstats
umount /mnt/dafs

# What was written but not committed is sent again to a restarted server: the
# file is cut behind its back, so only that can bring the data back.
mount_dafs data /mnt/dafs
exec 3>/mnt/dafs/unstable
head -c 3000000 /tmp/random >&3
sync -d /mnt/dafs/nothing 2>/dev/null
sleep 1
stop_server
start_server
tap_run "fsync after a restart" sync /mnt/dafs/unstable
exec 3>&-
head -c 3000000 /tmp/random >/tmp/part
tap_run "unstable data are there" cmp /tmp/part /srv/data/unstable

# An open file survives a restart by its handle, even renamed meanwhile.
exec 4>>/mnt/dafs/appended
echo one >&4
sync /mnt/dafs/appended
stop_server
mv /srv/data/appended /srv/data/moved
start_server
echo two >&4
exec 4>&-
tap_is "$(cat /srv/data/moved | tr '\n' ' ')" "one two " \
	"an open file survives a restart"

# Soft mounts give up in their time, and can be used again.
mount_dafs data /mnt/soft soft,timeo=20,retrans=2
stop_server
begin=$(date +%s)
tap_fails "a soft mount gives up" stat /mnt/soft/load
took=$(($(date +%s) - begin))
tap_run "within its time ($took s)" [ $took -lt 60 ]
start_server
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	stat /mnt/soft/load >/dev/null 2>&1 && break
	sleep 1
done
tap_run "and works again" cmp /tmp/random /mnt/soft/load
umount /mnt/soft

# A killed process does not wait for a dead server.
stop_server
cat /mnt/dafs/moved >/dev/null 2>&1 &
victim=$!
sleep 1
kill -9 $victim
tap_run "a killed process goes" sh -c \
	"for i in 1 2 3 4 5; do kill -0 $victim 2>/dev/null || exit 0; sleep 1; done; exit 1"
wait $victim
tap_run "umount -f of a dead server" timeout 30 umount -f /mnt/dafs
grep -q ' /mnt/dafs ' /proc/mounts && umount -l /mnt/dafs
start_server

# The link goes down under load and comes back. Soft-RoCE's management queue
# pair, which connections are made through, is broken for good by a packet sent
# meanwhile: it takes a new device to get going again.
mount_dafs data /mnt/dafs timeo=30
dd if=/tmp/random of=/mnt/dafs/link bs=256k conv=fsync 2>/dev/null &
writer=$!
sleep 1
ip link set dum0 down
sleep 3
ip link set dum0 up
ip addr add $ADDR6/64 dev dum0 nodad 2>/dev/null
rdma link delete rx0
rdma link add rx0 type rxe netdev dum0
tap_run "a writer survives a link that was down" wait $writer
tap_run "its data are right" cmp /tmp/random /srv/data/link

# The device vanishes under load, and another one appears.
dd if=/tmp/random of=/mnt/dafs/device bs=256k conv=fsync 2>/dev/null &
writer=$!
sleep 1
tap_run "the device goes away under load" timeout 60 rdma link delete rx0
tap_run "there is a device again" rdma link add rx0 type rxe netdev dum0
tap_run "a writer survives a lost device" wait $writer
tap_run "its data are right too" cmp /tmp/random /srv/data/device

# Unloading with a dead peer on either side.
stop_server
tap_run "a dead server does not hold the mount" timeout 60 umount -f /mnt/dafs
grep -q ' /mnt/dafs ' /proc/mounts && umount -l /mnt/dafs
sleep 1
tap_run "the client's module unloads" modprobe -r dafs
tap_run "fsck of the export" sh -c "umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
