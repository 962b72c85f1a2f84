# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Users, groups, modes, set-id bits, umask: the same results as on ext4.
# bed: um
# timeout: 600
#
# Without arguments files and directories have a third of the modes, another one each time:
# permissions:all tests all, and permissions:CASE a case with all.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
make_backing /srv/local 64
mkdir -m 777 /srv/data/squashed
mkdir /srv/squashed
mount --bind /srv/data/squashed /srv/squashed
load_modules /srv/data:no_root_squash,/srv/squashed
mount_dafs data /mnt/dafs && mount_dafs data /mnt/setup noac &&
	mount_dafs squashed /mnt/squashed noac || tap_bail "no mounts"
chmod 755 /srv /srv/local /mnt/dafs /mnt

some=
[ $# -gt 0 ] || some="--third $(($(date +%s) % 3))"
echo "modes: ${some:-all}"
as_ext4()
{
	# shellcheck disable=SC2086 # words
	python3 -B "$BED/../posix/permissions.py" $some "$@"
}

cases=$*
[ "$cases" != all ] || cases=
for case in ${cases:-files directories creation open_files writers shared revoked truncating_reader errors search programs}; do
	tap_run "users, $case" as_ext4 /srv/local /mnt/dafs "$case"
done
for case in ${cases:-files directories creation}; do
	case $case in
	files | directories | creation)
		tap_run "squashed root, $case" as_ext4 --squashed /mnt/squashed \
			/srv/local /mnt/setup/squashed "$case"
		;;
	esac
done
umount /mnt/dafs /mnt/setup /mnt/squashed
tap_done
