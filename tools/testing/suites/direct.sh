# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# O_DIRECT in parts, past the end of the file, and with cached or mapped pages.
# bed: um
# timeout: 180

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
mkdir -p /srv/data
make_slow_disk 64
mkfs.ext4 -q -F -I 256 /dev/mapper/slow && mount -t ext4 /dev/mapper/slow /srv/data ||
	tap_bail "no ext4 for the exports"
make_backing /srv/other 16
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs rsize=16384,wsize=16384,actimeo=600 || tap_bail "no mount"

# Attributes are cached for so long that only this client's own knowledge is tested.
cat >/tmp/parts.py <<'END'
import mmap, os, sys
name, length = sys.argv[1], int(sys.argv[2])
data = os.urandom(length)
memory = mmap.mmap(-1, length)
memory[:] = data
plain = os.open(f"/mnt/dafs/{name}", os.O_RDWR | os.O_CREAT)
direct = os.open(f"/mnt/dafs/{name}", os.O_RDWR | os.O_DIRECT)
if os.pwritev(direct, [memory], 0) != length:
    print("a short write")
if os.pread(plain, 2 * length, 0) != data:
    print("other data is cached")
memory[:] = bytes(length)
if os.preadv(direct, [memory], 0) != length or memory[:] != data:
    print("other data is read")
if open(f"/srv/data/{name}", "rb").read() != data:
    print("other data at the server")
END
for length in 700 16384 100000 4000000; do
	tap_silent "a new file of $length bytes" python3 /tmp/parts.py new-$length $length
done

cat >/tmp/nowhere.py <<'END'
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("/mnt/dafs/new-700", os.O_RDWR | os.O_DIRECT)
for call in libc.pread, libc.pwrite:
    for length in 512, 100000:
        got = call(file, ctypes.c_void_p(4096), length, ctypes.c_long(0))
        print(got, errno.errorcode[ctypes.get_errno()])
END
tap_is "$(python3 /tmp/nowhere.py | uniq)" "-1 EFAULT" "memory that the program does not have"

gcc -O1 -Wall -Werror -o /tmp/mapped "$BED/../mapped/mapped.c" ||
	tap_bail "mapped.c does not compile"

# Asynchronous direct I/O with conflicting pages, while the server is stopped: no read
# before the pages are written back, no write before they are read.
tap_run "direct reads that take until the pages are written back" \
	/tmp/mapped read /mnt/dafs/direct /srv/other/mapped 3 \
	"dd of=/srv/data/direct oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
	dmsetup suspend --nolockfs slow" "dmsetup resume slow"
# a failed test may have left it stopped
dmsetup resume slow
tap_run "direct writes that take until the file is cached" \
	/tmp/mapped write /mnt/dafs/direct 3 "fsfreeze -f /srv/data" "fsfreeze -u /srv/data"
fsfreeze -u /srv/data 2>/dev/null

# The same with a running server
tap_run "direct reads into pages that are written back" \
	/tmp/mapped read /mnt/dafs/direct /srv/other/mapped 40
tap_run "into those of another file here" \
	/tmp/mapped read /mnt/dafs/direct /mnt/dafs/mapped 40
tap_run "which is at the server" cmp /srv/data/direct /srv/data/mapped
tap_run "direct writes to a file that is read ahead" /tmp/mapped write /mnt/dafs/direct 40

umount /mnt/dafs
unload_modules
umount /srv/data
remove_slow_disk
tap_done
