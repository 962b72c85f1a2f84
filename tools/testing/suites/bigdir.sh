# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A directory of 100,000 entries that the server changes while it is read.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

# To link 100,000 names would take a minute here. So the blocks of the directory
# are written as a file, and e2fsck makes it a directory: it counts the links
# and builds the index. This needs a file system without journal and checksums.
cat >/tmp/blocks.py <<'END'
import os, struct, sys
BLOCK = 4096
def entry(name, inode, kind):
    length = 8 + (len(name) + 3) // 4 * 4
    return struct.pack("<IHBB", inode, length, len(name), kind) + name.ljust(length - 8, b"\0")
top = sys.argv[1]
inodes = []
for i in range(2):	# no file has more than 65,000 names
    with open(f"{top}/source{i}", "w") as source:
        inodes.append(os.fstat(source.fileno()).st_ino)
with open(f"{top}/huge", "wb") as huge:
    here = os.fstat(huge.fileno()).st_ino
    entries = [(b".", here, 2), (b"..", 2, 2)]
    entries += [(b"%d" % i, inodes[i % 2], 1) for i in range(100000)]
    block, last = b"", 0
    def end_of_block():
        room = BLOCK - last
        huge.write(block[:last + 4] + struct.pack("<H", room) + block[last + 6:].ljust(room - 6, b"\0"))
    for each in entries:
        new = entry(*each)
        if len(block) + len(new) > BLOCK:
            end_of_block()
            block = b""
        last = len(block)
        block += new
    end_of_block()
END
make_huge()
{
	modprobe -q brd rd_nr=1 rd_size=1048576
	mkdir -p /srv/data
	mkfs.ext4 -q -F -I 256 -b 4096 -O ^has_journal,^metadata_csum /dev/ram0 100M &&
	mount -t ext4 /dev/ram0 /srv/data && python3 /tmp/blocks.py /srv/data &&
	umount /srv/data && debugfs -w -R "sif huge mode 040755" /dev/ram0
	e2fsck -fyD /dev/ram0 >/tmp/e2fsck
	# 1: errors were corrected
	[ $? = 1 ] && mount -t ext4 /dev/ram0 /srv/data
}

setup_rxe
tap_run "a directory of 100,000 entries" make_huge || tap_bail "no directory"
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs || tap_bail "no mount"
tap_run "is read while it changes" \
	python3 -B "$BED/../posix/posix.py" /mnt/dafs /srv/data /mnt/dafs huge
umount /mnt/dafs
tap_run "fsck of the export" sh -c \
	"modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
