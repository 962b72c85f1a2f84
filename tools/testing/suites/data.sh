# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Data by every path: cached, O_DIRECT, mmap, odd sizes, holes, truncation.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 300
load_modules /srv/data:no_root_squash
dd if=/dev/urandom of=/tmp/random bs=1M count=8 2>/dev/null
head -c 1M /tmp/random >/tmp/short

drop()
{
	echo 3 >/proc/sys/vm/drop_caches
}

# copy_and_compare NAME SIZE HOW-TO-WRITE [HOW-TO-READ [WHAT]]
copy_and_compare()
{
	what=${5:-/tmp/random}
	dd if="$what" of="/mnt/dafs/$1" "bs=$2" $3 2>/dev/null &&
		cmp "$what" "/srv/data/$1" && drop &&
		dd if="/mnt/dafs/$1" "bs=$2" $4 2>/dev/null | cmp - "$what"
}

paths()
{
	tap_run "$1: cached, 64 KiB" copy_and_compare cached 64k conv=fsync
	tap_run "$1: cached, odd sizes" copy_and_compare odd 12345 conv=fsync
	tap_run "$1: O_DIRECT, 1 MiB" copy_and_compare direct 1M oflag=direct iflag=direct
	tap_run "$1: O_DIRECT, 4 KiB" copy_and_compare small 4k oflag=direct iflag=direct \
		/tmp/short
}

# Programs of the server get inotify events when clients read, in every way.
cat >/tmp/heard.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
libc.inotify_add_watch(watch, b"/srv/data/watched", 1)      # IN_ACCESS
fd = os.open("/mnt/dafs/watched", os.O_RDONLY)
while os.read(fd, 1 << 20):
    pass
try:
    sys.exit(not os.read(watch, 4096))
except BlockingIOError:
    sys.exit("no event")
END
cp /tmp/random /srv/data/watched
for options in nocksum cksum; do
	mount_dafs data /mnt/dafs $options
	tap_run "$options: inotify tells of reads" python3 /tmp/heard.py
	umount /mnt/dafs
done

for options in nocksum cksum rdmaread rsize=16384,wsize=16384 \
	msgsize=4096,max_requests=2; do
	mount_dafs data /mnt/dafs $options
	paths $options
	umount /mnt/dafs
done
mount -t dafs "[$ADDR6]:/data" /mnt/dafs
paths IPv6
umount /mnt/dafs

# RDMA: whole regions, by two posts each; reads use the server's page cache,
# unless a checksum needs data that does not change.
borrowed()
{
	cat /sys/fs/dafsd/*/statistics/bytes_borrowed
}

by_rdma()
{
	tap_is "$(counted "$1" 1) $(counted "$1" 6) $(counted "$1" 7) $(counted "$1" 10)" \
		"8 8388608 8 16" "$1 of 1 MiB: one region, two posts"
}

mount_dafs data /mnt/dafs nocksum
dd if=/tmp/random of=/mnt/dafs/direct bs=1M oflag=direct 2>/dev/null
by_rdma WRITE_DIRECT
dd if=/mnt/dafs/direct of=/dev/null bs=1M count=8 iflag=direct 2>/dev/null
by_rdma READ_DIRECT
tap_is "$(borrowed)" 8388608 "the server lends its page cache for all of it"
dd if=/mnt/dafs/direct of=/dev/null bs=1M 2>/dev/null
tap_is "$(borrowed)" 16777216 "and for what the client caches"
umount /mnt/dafs
mount_dafs data /mnt/dafs cksum
dd if=/mnt/dafs/direct of=/dev/null bs=1M iflag=direct 2>/dev/null
tap_is "$(borrowed)" 0 "but not where there are checksums"
before=$(counted LOOKUP 10) alone=$(counted GETATTR_INLINE 10)
stat /mnt/dafs/odd >/dev/null
tap_is "$(counted LOOKUP 10) $(counted GETATTR_INLINE 10)" "$((before + 1)) $alone" \
	"LOOKUP and GETATTR go in one post"
umount /mnt/dafs
mount -t dafs "[$ADDR6]:/data" /mnt/dafs

# Direct and cached I/O on one file see each other's data.
in_place()
{
	dd if=/dev/urandom of=/tmp/new bs=4k count=64 2>/dev/null
	dd if=/tmp/new of=/mnt/dafs/place bs="$1" conv=notrunc oflag=direct 2>/dev/null &&
		cmp -n 262144 /tmp/new /srv/data/place &&
		dd if=/mnt/dafs/place bs="$1" count=$((262144 / $1)) iflag=direct \
			2>/dev/null | cmp - /tmp/new
}
cp /tmp/random /mnt/dafs/place
sync /mnt/dafs/place
for size in 512 4096 8192 65536; do
	drop
	tap_run "O_DIRECT in place, $size" in_place $size
done
tap_run "cached reads see it" cmp -n 262144 /tmp/new /mnt/dafs/place
tap_run "O_DIRECT over cached data" in_place 4096
tap_run "cached reads see that, too" cmp -n 262144 /tmp/new /mnt/dafs/place
dd if=/tmp/random of=/mnt/dafs/place bs=64k count=4 conv=notrunc 2>/dev/null
tap_run "O_DIRECT sees cached writes" sh -c \
	"dd if=/mnt/dafs/place bs=64k count=4 iflag=direct 2>/dev/null | cmp -n 262144 - /tmp/random"
tap_is "$(dd if=/mnt/dafs/place bs=4096 skip=3000 iflag=direct 2>/dev/null | wc -c)" 0 \
	"O_DIRECT beyond the end reads nothing"
truncate -s 5000 /mnt/dafs/place
tap_is "$(dd if=/mnt/dafs/place bs=4096 iflag=direct 2>/dev/null | wc -c)" 5000 \
	"and up to it what there is"

# An extended file has no pages: direct I/O goes to the server, and pages cached
# afterwards must have its data, not the zeros from before.
cat >/tmp/mixed.py <<'END'
import mmap, os, sys
size, part = 1 << 20, 1 << 16

def direct_buffer(byte, length):
    buffer = mmap.mmap(-1, length)
    buffer.write(byte * length)
    return buffer

class File:
    """An empty file made longer, of which 64 KiB at @pos were written directly."""
    def __init__(self, name, pos, first=b"", mapped=False):
        self.name, self.want = name, bytearray(size)
        self.fd = os.open(f"/mnt/dafs/{name}", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.direct = os.open(f"/mnt/dafs/{name}", os.O_RDWR | os.O_DIRECT)
        if mapped:
            os.ftruncate(self.fd, size)
            self.mapped = mmap.mmap(self.fd, size)
            os.ftruncate(self.fd, 0)
        if first:
            os.pwrite(self.fd, first, 0)
            os.ftruncate(self.fd, 0)
        os.ftruncate(self.fd, size)
        os.pwritev(self.direct, [direct_buffer(b"d", part)], pos)
        self.want[pos:pos + part] = b"d" * part
    def write(self, data, pos):
        os.pwrite(self.fd, data, pos)
        self.want[pos:pos + len(data)] = data
    def check(self, what):
        os.fsync(self.fd)
        with open(f"/srv/data/{self.name}", "rb") as file:
            if file.read() != self.want:
                print(f"{self.name}: {what}: wrong at the server")
        if os.pread(self.fd, size, 0) != self.want:
            print(f"{self.name}: {what}: wrong here")

for pos in 0, 4096, 8192, 131072:
    file = File(f"write{pos}", pos)
    file.write(b"0123456789", pos + 100)
    file.write(b"0123456789", pos + 9000)
    file.check("cached write")
    file = File(f"again{pos}", pos, b"x" * size)
    file.write(b"0123456789", pos + 100)
    file.check("cached write after truncation down and up")
    if os.pread(File(f"read{pos}", pos).fd, part, pos) != b"d" * part:
        print("cached read")
    file = File(f"map{pos}", pos, mapped=True)
    if file.mapped[pos:pos + part] != b"d" * part:
        print("mapped read")
    file = File(f"store{pos}", pos, mapped=True)
    file.mapped[pos + 5000:pos + 5010] = b"0123456789"
    file.want[pos + 5000:pos + 5010] = b"0123456789"
    file.check("mapped write")
END
tap_silent "direct writes into a file that was made longer" python3 /tmp/mixed.py

# From a pipe, past the end, with signals: each byte once.
cat >/tmp/splice.py <<'END'
import os, signal, sys
source = os.open("/tmp/random", os.O_RDONLY)
sink = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_DIRECT)
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.004, 0.004)
done = size = os.fstat(source).st_size // 4
while done:
    done -= os.sendfile(sink, source, None, min(done, 1 << 16))
signal.setitimer(signal.ITIMER_REAL, 0)
if not ticks or os.stat(sys.argv[1]).st_size != size:
    print(len(ticks), "signals", os.stat(sys.argv[1]).st_size, "bytes")
END
tap_silent "splice to an O_DIRECT file while signals come" \
	timeout 240 python3 /tmp/splice.py /mnt/dafs/splice
tap_run "each byte once" cmp -n 2097152 /tmp/random /srv/data/splice

for engine in psync mmap libaio; do
	tap_run "fio with verify, $engine" fio --name=$engine --directory=/mnt/dafs \
		--size=4m --rw=randwrite --bs=4k-37k --bs_unaligned \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 \
		--fallocate=none --ioengine=$engine --minimal
done
tap_run "fio with verify, libaio O_DIRECT" fio --name=dio --directory=/mnt/dafs \
	--size=8m --rw=randrw --bs=4k --direct=1 --iodepth=16 \
	--verify=crc32c --verify_fatal=1 --verify_state_save=0 \
	--fallocate=none --ioengine=libaio --minimal

# I/O that need not wait: io_uring uses no worker, and RWF_NOWAIT succeeds.
tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null

# punted READ|WRITE DIRECT: number of 200 requests that io_uring gives to a worker
punted()
{
	echo >$tracing/trace
	echo 1 >$tracing/events/io_uring/io_uring_queue_async_work/enable
	fio --name=uring --filename=/mnt/dafs/uring --size=800k --bs=4k --rw="$1" \
		--direct="$2" --invalidate="$2" --ioengine=io_uring --iodepth=4 --minimal \
		--overwrite=1 --fallocate=none >/dev/null || echo fio failed
	echo 0 >$tracing/events/io_uring/io_uring_queue_async_work/enable
	grep -c "opcode $(echo "${1#rand}" | tr '[:lower:]' '[:upper:]')" $tracing/trace
}
head -c 819200 /tmp/random >/mnt/dafs/uring
cat /mnt/dafs/uring >/dev/null
n=$(punted read 0)
tap_run "io_uring reads what is cached without a worker ($n of 200 with)" [ "$n" -lt 20 ]
n=$(punted randread 1)
tap_run "and around the cache ($n)" [ "$n" -lt 50 ]
n=$(punted randwrite 1)
tap_run "and writes there ($n)" [ "$n" -lt 50 ]
cat >/tmp/nowait.py <<'END'
import ctypes, errno, mmap, os, sys
name = sys.argv[1]
fd = os.open(name, os.O_RDWR)
buffer = mmap.mmap(-1, 4096)

def nowait(call, fd):
    try:
        return call(fd, [buffer], 0, os.RWF_NOWAIT)
    except OSError as error:
        return errno.errorcode[error.errno]

os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
cold = nowait(os.preadv, fd)
os.pread(fd, 8192, 0)
print(cold, nowait(os.preadv, fd), nowait(os.pwritev, fd), end=" ")
direct = os.open(name, os.O_RDONLY | os.O_DIRECT)
# cached I/O blocks it first, then only the pending response
print(nowait(os.preadv, direct), os.preadv(direct, [buffer], 0), nowait(os.preadv, direct))
END
tap_is "$(python3 /tmp/nowait.py /mnt/dafs/uring)" "EAGAIN 4096 EAGAIN EAGAIN 4096 EAGAIN" \
	"RWF_NOWAIT reads what is cached, and says so if it would have to wait"

truncate -s 5G /mnt/dafs/sparse
echo end >>/mnt/dafs/sparse
tap_is "$(stat -c %s /srv/data/sparse)" 5368709124 "a file of more than 4 GiB"
drop
tap_is "$(tail -c 4 /mnt/dafs/sparse)" end "its end is read back"
tap_is "$(head -c 100000 /mnt/dafs/sparse | tr -d '\0' | wc -c)" 0 "its hole is zeros"
rm /mnt/dafs/sparse

cp /tmp/random /mnt/dafs/cut
truncate -s 100001 /mnt/dafs/cut
truncate -s 300000 /mnt/dafs/cut
head -c 100001 /tmp/random >/tmp/cut
truncate -s 300000 /tmp/cut
tap_run "truncated down and up" cmp /tmp/cut /mnt/dafs/cut
sync /mnt/dafs/cut
tap_run "on the server, too" cmp /tmp/cut /srv/data/cut

# The next open sees a local change at the server.
echo before >/mnt/dafs/shared
cat /mnt/dafs/shared >/dev/null
echo changed on the server >/srv/data/shared
tap_is "$(cat /mnt/dafs/shared)" "changed on the server" "a change at the server is seen"

name=$(printf '%0255d' 0)
tap_run "a name of 255 bytes" touch "/mnt/dafs/$name"
tap_fails "one of 256 is too long" touch "/mnt/dafs/${name}x"
tap_run "names in UTF-8" touch "/mnt/dafs/grüße-挨拶"
tap_run "are the same on the server" [ -e "/srv/data/grüße-挨拶" ]
mkdir /mnt/dafs/many
for i in $(seq 600); do echo "$i" >"/srv/data/many/a file with a longer name $i"; done
tap_is "$(ls /mnt/dafs/many | wc -l)" 600 "600 entries are listed once each"
tap_run "removed while listing" rm -r /mnt/dafs/many
umount /mnt/dafs
tap_run "fsck of the export" sh -c "modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
