# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A full disk at the server is always reported.
# bed: um
# timeout: 300

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 24
make_backing /srv/small 12
load_modules /srv/data:no_root_squash,/srv/small:no_root_squash
mount_dafs data /mnt/dafs

echo precious >/mnt/dafs/precious
says_full()
{
	"$@" 2>&1 | grep -q "No space left"
}

tap_run "a cached copy says that the disk is full" says_full cp /dev/zero /mnt/dafs/big2
# Later opens of the file do not get the error.
tap_run "not to another reader" dd if=/mnt/dafs/big2 of=/tmp/read bs=4096 count=1 iflag=direct
cat >/tmp/stranger.py <<'END'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
# two parts of an uncached page: the second one forces write-back of the first
for at in 10, 20:
    os.pwrite(fd, b"new", at)
os.fsync(fd)
END
tap_run "nor to another writer" python3 /tmp/stranger.py /mnt/dafs/big2
tap_run "fsync says it too" says_full \
	dd if=/dev/zero of=/mnt/dafs/big bs=1M count=40 conv=fsync
tap_run "so does O_DIRECT" says_full \
	dd if=/dev/zero of=/mnt/dafs/big3 bs=1M count=40 oflag=direct
while mkdir "/mnt/dafs/d$((n = n + 1))" 2>/tmp/err; do :; done
tap_run "mkdir says it" grep -q "No space left" /tmp/err
tap_is "$(cat /mnt/dafs/precious)" precious "what was there is unharmed"
tap_run "removing makes room" rm /mnt/dafs/big /mnt/dafs/big2 /mnt/dafs/big3
tap_run "which can be used" dd if=/dev/zero of=/mnt/dafs/again bs=1M count=4 conv=fsync

# Cached data that was not written to the server does not reappear when the file is extended
# again.
cat >/tmp/lost.py <<'END'
import errno, os
SIZE = 1 << 20
def write(fd):
    os.write(fd, b"x" * SIZE)
    os.fsync(fd)
def until_full(fd):
    try:
        while True:
            write(fd)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            print(error)
fd = os.open("/mnt/dafs/lost", os.O_RDWR | os.O_CREAT)
write(fd)
until_full(os.open("/srv/data/filler", os.O_WRONLY | os.O_CREAT))
until_full(fd)
if os.stat("/mnt/dafs/lost").st_size == 2 * SIZE:
    print("there was room")
os.unlink("/srv/data/filler")
os.ftruncate(fd, 2 * SIZE)
with open("/srv/data/lost", "rb") as file:
    if os.pread(fd, 2 * SIZE, 0) != file.read():
        print("the server has other data")
END
tap_silent "data that was refused does not come back" python3 /tmp/lost.py
tap_run "unmount" umount /mnt/dafs
tap_is "$(stat -c %s /srv/data/again)" 4194304 "all of it arrived"

# Every way to write
mount_dafs small /mnt/dafs clientid=one && mount_dafs small /mnt/other clientid=two ||
	tap_bail "no mounts"
tap_run "full" python3 -B "$BED/../posix/posix.py" /mnt/dafs /srv/small /mnt/other full
umount /mnt/dafs /mnt/other
tap_run "fsck of the exports" sh -c \
	"modprobe -r dafsd; umount /srv/data /srv/small
	e2fsck -f -n /dev/ram0 && e2fsck -f -n /dev/ram1"
tap_done
