# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# POSIX semantics: sparse and large files, times, names, directories, locks.
# bed: um
# timeout: 600

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 600
mkdir /srv/data/part
load_modules /srv/data:no_root_squash,/srv/data/part:no_root_squash
mount_dafs data /mnt/dafs clientid=one && mount_dafs data /mnt/other clientid=two &&
	mount_dafs part /mnt/part clientid=one && mount_dafs part /mnt/part2 clientid=two ||
	tap_bail "no mounts"

cases=$*
for case in ${cases:-sparse fallocate limits mapped append signals times birth names symlinks deep \
	directory seekdir rename replace unlink nameless handles special groups locks statfs}; do
	tap_run "$case" python3 -B "$BED/../posix/posix.py" /mnt/dafs /srv/data /mnt/other "$case"
done

# The tests of names and handles in an export of a subdirectory.
part="append names symlinks rename unlink nameless handles special locks"
for case in ${cases:-$part}; do
	case " $part " in
	*" $case "*)
		tap_run "$case, in a part of a file system" python3 -B \
			"$BED/../posix/posix.py" /mnt/part /srv/data/part /mnt/part2 "$case"
		;;
	esac
done
umount /mnt/dafs /mnt/other /mnt/part /mnt/part2
tap_run "fsck of the export" sh -c \
	"modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
