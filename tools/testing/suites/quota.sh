# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A user over quota gets EDQUOT from write, fsync or close.
# bed: um
# timeout: 200

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 48
enable_quota /srv/data
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs || tap_bail "no mount"

cases=$*
for case in ${cases:-cached close synchronous direct append mapped inodes room others statfs}; do
	tap_run "$case" python3 -B "$BED/../posix/quota.py" \
		/mnt/dafs /srv/data /dev/ram0 "$case"
done
umount /mnt/dafs
tap_run "fsck of the export" sh -c \
	"modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
