# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Many mounts, open files and sessions; their memory, and the limits.
# bed: um
# timeout: 480
#
# scale:memory only prints the memory of idle mounts.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

MOUNTS=64
# KiB of an idle mount on both sides; debug kernels need more
MOST=640
[ ! -e /sys/kernel/debug/kmemleak ] || MOST=1344
FILES=10000
SESSIONS=1000

# Mostly without a disk, because the journal would take most of the time
setup_rxe
make_backing /srv/data 64
mkdir /srv/ram
mount -t tmpfs -o size=256m tmpfs /srv/ram
for export in one two three four; do
	mkdir /srv/data/$export
done

start_server()
{
	modprobe dafsd "exports=/srv/ram:no_root_squash,/srv/data:no_root_squash,/srv/data/one:no_root_squash,/srv/data/two:no_root_squash,/srv/data/three:no_root_squash,/srv/data/four:no_root_squash"
}

# Kilobytes of memory that is free or page cache
free_memory()
{
	awk '$1 == "MemFree:" || $1 == "Buffers:" || $1 == "Cached:" { sum += $2 }
		END { print sum }' /proc/meminfo
}

# Kilobytes allocated by the kernel
kernel_memory()
{
	awk '$1 == "Slab:" || $1 == "VmallocUsed:" || $1 == "Percpu:" { sum += $2 }
		END { print sum }' /proc/meminfo
}

# has WHAT: number of these resources of the device
has()
{
	rdma resource show | awk -v "what=$1" '{ for (i = 1; i < NF; i++) if ($i == what) print $(i + 1) }'
}

# Resources of a mount: operation and back-control channel, at both ends
connections()
{
	echo "$((($(has qp) - qps) / MOUNTS)) $((($(has cq) - cqs) / MOUNTS))"
}

# The server learns later that a client has disconnected.
all_gone()
{
	for _ in $(seq 600); do
		[ "$(has qp) $(has cq) $(has mr)" != "$qps $cqs $mrs" ] || return 0
		sleep 0.2
	done
	rdma resource show
	return 1
}

# tell WHAT: prints with the results
tell()
{
	echo "# $*" >>"$RESULTS"
	echo "# $*"
}

start_server
modprobe dafs

# Several exports, each mounted by many
mount_all()
{
	for i in $(seq $MOUNTS); do
		set -- one two three four
		shift $((i % 4))
		mount_dafs "$1" /mnt/m"$i" nosharecache || return
		echo "$i" >/mnt/m"$i"/file"$i" || return
	done
}

before=$(free_memory) kernel=$(kernel_memory)
qps=$(has qp) cqs=$(has cq) mrs=$(has mr)
tap_run "$MOUNTS mounts of four exports" mount_all
tap_is "$(find /sys/fs/dafsd -name peer | wc -l)" $MOUNTS "each is a session"
tap_is "$(cat /srv/data/*/file* | sort -n | tr '\n' ' ')" "$(seq -s ' ' $MOUNTS) " \
	"and writes to its own"
cost=$(((before - $(free_memory)) / MOUNTS))
given=$((($(kernel_memory) - kernel) / MOUNTS))
tell "a mount takes $cost KiB of free memory on both sides"
tell "and $given KiB by Slab, VmallocUsed and Percpu"
tell "with all channels and regions: $(rdma resource)"
tap_is "$(connections)" "4 4" "it has two channels, with two ends each, and no more"
tap_run "an idle mount takes no more of the memory than it may" [ $cost -le $MOST ]
tap_run "nor of what the kernel has given out" [ $given -le $MOST ]
tap_run "all are unmounted" sh -c "umount /mnt/m*"
tap_run "and leave no connection or region behind" all_gone
[ "$1" != memory ] || tap_done

# Ten thousand files open at a time: the server has them, also after a restart,
# and each is the right file.
cat >/tmp/files.py <<'END'
import os, resource, sys, time
top, nr = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (nr + 100, nr + 100))
os.mkdir(top)
fds = [os.open(f"{top}/{i}", os.O_RDWR | os.O_CREAT) for i in range(nr)]
open("/tmp/held", "w").close()
while not os.path.exists("/tmp/go"):
    time.sleep(0.1)
for i in range(11, nr, 100):
    os.pwrite(fds[i], b"%d" % i, 0)
for fd in fds:
    os.close(fd)
END
opens()
{
	cat /sys/fs/dafsd/*/opens
}

mount_dafs ram /mnt/dafs
before=$(free_memory)
python3 /tmp/files.py /mnt/dafs/many $FILES &
holder=$!
until [ -e /tmp/held ] || ! kill -0 $holder; do sleep 0.2; done
tap_is "$(opens)" $FILES "the server has $FILES files open"
tell "an open file takes $(((before - $(free_memory)) * 1024 / FILES)) bytes on both sides"
modprobe -r dafsd
start_server
tap_run "the mount is connected to a restarted server" stat -f /mnt/dafs
has_them_all()
{
	[ "$(opens)" = $FILES ]
}
tap_run "which has them all open before long" eventually has_them_all
touch /tmp/go
tap_run "they can be written and closed" wait $holder
tap_is "$(opens)" 0 "then it has none open"
tap_is "$(cat /srv/ram/many/*)" \
	"$(seq 11 100 $FILES | sort | tr -d '\n')" "each was what it should be"

# The maximum
echo 50 >/sys/module/dafsd/parameters/max_opens
cat >/tmp/limit.py <<'END'
import os
fds = []
try:
    for i in range(100):
        fds.append(os.open(f"/mnt/dafs/many/{i}", os.O_RDONLY))
except OSError as err:
    print(len(fds), os.strerror(err.errno))
END
tap_is "$(python3 /tmp/limit.py)" "50 Too many open files in system" "no more files than may be"
echo 1 >/sys/module/dafsd/parameters/max_sessions
tap_fails "no more sessions than may be" mount_dafs one /mnt/one
tap_run "what is there goes on" cat /mnt/dafs/many/1
echo 2 >/sys/module/dafsd/parameters/max_sessions
tap_run "with room for it another session is made" mount_dafs one /mnt/one
umount /mnt/one

# The server ends a session when it learns that the client has.
mount_soon()
{
	for _ in $(seq 300); do
		! mount_dafs one /mnt/one || return 0
		sleep 0.2
	done
	return 1
}
tap_run "one that has ended leaves its room" mount_soon
umount /mnt/one /mnt/dafs
rm -r /srv/ram/many
modprobe -r dafsd

# A thousand sessions, and the memory of one on each side
start_server
mkdir /srv/ro /srv/squash
printf 'dafs_scale*' >/sys/module/kunit/parameters/filter_glob
tap_run "$SESSIONS sessions" modprobe dafs_kunit sessions=$SESSIONS
# shellcheck disable=SC2016 # of the inner shell
tap_run "have results" sh -c 'cat /sys/kernel/debug/kunit/dafs_scale/results >>"$RESULTS"'
grep -h "# .*KiB" /sys/kernel/debug/kunit/dafs_scale/results | sed 's/^ *//'
tap_done
