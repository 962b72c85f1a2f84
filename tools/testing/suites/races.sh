# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Several tasks on two processors: data, names, opens, mounts, a server that restarts.
# bed: smp
# timeout: 300
#
# races:SECONDS spends that long on each part. Mainly tests that the kernel's
# checkers find nothing.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

seconds=${1:-8}
setup_rxe
make_backing /srv/data 128
mkdir /srv/data/names
EXPORTS=/srv/data:no_root_squash
load_modules $EXPORTS
gcc -O2 -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
seed=7
echo "seed $seed"

mount_dafs data /mnt/one clientid=one && mount_dafs data /mnt/two clientid=two ||
	tap_bail "no mounts"

# Two tasks of one client, and one that alternates between clients.
/tmp/fsx -s "$seed" -t "$seconds" -o /tmp/copy1 /mnt/one/file1 &
first=$!
/tmp/fsx -s "$((seed + 1))" -t "$seconds" -o /tmp/copy2 /mnt/one/file2 &
second=$!
tap_run "data by two clients" /tmp/fsx -s "$((seed + 2))" -t "$seconds" \
	-o /tmp/copy3 /mnt/one/file3 /mnt/two/file3
tap_run "data by one task beside them" wait $first
tap_run "data by another one" wait $second
sync
for file in 1 2 3; do
	tap_run "the server has the same, $file" cmp /tmp/copy$file /srv/data/file$file
done

# A read into a mapping of the same file makes pages dirty while others append, as
# two users in turn, both of which must become the writer.
cat >/tmp/into.py <<'END'
import mmap, os, sys
name, size, users = sys.argv[1], 1 << 16, []
with open(name, "wb") as file:
    file.write(b"x" * size)
os.chmod(name, 0o666)
for uid in 0, 1000:
    os.seteuid(uid)
    users.append(os.open(name, os.O_RDWR))
    os.seteuid(0)
child = os.fork()
if not child:
    fd = os.open(name, os.O_WRONLY | os.O_APPEND)
    while os.getppid() != 1 and not os.path.exists("/tmp/into.stop"):
        os.write(fd, b"y" * 100)
    os._exit(0)
for turn in range(20):
    for fd in users:
        with mmap.mmap(fd, size) as mapped:
            if os.preadv(fd, [mapped], 0) != size or mapped[:] != b"x" * size:
                print("turn", turn, "is wrong")
open("/tmp/into.stop", "w").close()
os.waitpid(child, 0)
print("done")
END

# Does not wait for the reader, which may be in state D.
read_into()
{
	python3 /tmp/into.py "$1" >/tmp/into.out &
	for _ in $(seq 3000); do
		if ! kill -0 $! 2>/dev/null; then
			[ "$(cat /tmp/into.out)" = "done" ]
			return
		fi
		sleep 0.1
	done
	return 1
}
tap_run "read into a mapping of the file" read_into /mnt/one/into

tap_run "names that several use" "$BED/../races/storm.py" "$seconds" \
	/mnt/one/names /mnt/two/names /mnt/one/names

# mounts NUMBER: repeated mounts, each with a separate session
mounts()
{
	for round in 1 2 3; do
		mount_dafs data "/mnt/mount$1" "clientid=mount$1" &&
			echo $round >"/mnt/mount$1/mount$1" &&
			umount "/mnt/mount$1" || return
	done
}

for number in 1 2 3; do
	mounts $number &
	eval "mounts$number=\$!"
done
for number in 1 2 3; do
	eval "tap_run 'mounts beside each other, $number' wait \$mounts$number"
done

# An append whose response is lost with the connection returns EIO, whether it was
# executed or not.
/tmp/fsx -s "$seed" -t "$seconds" -f append -b /srv/data/file1 -o /tmp/copy1 /mnt/one/file1 &
first=$!
/tmp/fsx -s "$seed" -t "$seconds" -f append -b /srv/data/file2 -o /tmp/copy2 /mnt/two/file2 &
second=$!
for round in 1 2; do
	sleep 2
	tap_run "the server unloads under load, $round" modprobe -r dafsd
	tap_run "and comes back, $round" modprobe dafsd exports=$EXPORTS
done
tap_run "data of one client over restarts" wait $first
tap_run "data of the other" wait $second
sync
for file in 1 2; do
	tap_run "the server has the same after restarts, $file" \
		cmp /tmp/copy$file /srv/data/file$file
done

tap_run "unmount" umount /mnt/one /mnt/two
tap_run "the modules unload" unload_modules
tap_done
