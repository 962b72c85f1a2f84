# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What programs expect: sparse and large files, times, names, directories, locks.
# bed: um
# timeout: 600

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 600
make_backing /srv/small 24
load_modules /srv/data:no_root_squash,/srv/small:no_root_squash
mount_dafs data /mnt/dafs clientid=one && mount_dafs data /mnt/other clientid=two &&
	mount_dafs small /mnt/small || tap_bail "no mounts"

cases=$*
for case in ${cases:-sparse fallocate limits mapped append signals times names symlinks deep \
	directory seekdir rename unlink special locks statfs full}; do
	case $case in
	full) views="/mnt/small /srv/small /mnt/small" ;;
	*) views="/mnt/dafs /srv/data /mnt/other" ;;
	esac
	# shellcheck disable=SC2086 # three words
	tap_run "$case" python3 -B "$BED/../posix/posix.py" $views "$case"
done
umount /mnt/dafs /mnt/other /mnt/small
tap_run "fsck of the export" sh -c \
	"modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
