# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The file system stressors of stress-ng, one by one and all at once.
# bed: um
# timeout: 600
# needs: stress
# may-skip: * on the mount
#
# stress:NAME runs only that stressor, on the mount and on ext4.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 600
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs || tap_bail "no mount"
REMOTE=/mnt/dafs/stress LOCAL=/srv/data/local
mkdir $REMOTE $LOCAL

# The reason if a stressor of these classes is left out.
left_out()
{
	case $1 in
	bind-mount | binderfs | dup | eventfd | getdent | procfs)
		echo "is about other file systems" ;;
	ioprio | rawdev)
		echo "is about block devices" ;;
	io-uring)
		echo "fails on ext4, too" ;;
	chattr | fiemap | inode-flags | verity)
		echo "wants an ioctl of local file systems" ;;
	fallocate | fpunch)
		echo "there is no fallocate(2)" ;;
	lease)
		echo "there are no leases" ;;
	acl | xattr)
		echo "there are no extended attributes" ;;
	link | symlink)
		echo "makes 8,192 names before it looks at the clock" ;;
	esac
}

# Smaller than by default, for the same reason.
sizes()
{
	case $1 in
	dentry) echo --dentries 128 ;;
	dir) echo --dir-dirs 128 ;;
	hdd) echo --hdd-bytes 2m ;;
	iomix) echo --iomix-bytes 2m ;;
	readahead) echo --readahead-bytes 2m ;;
	revio) echo --revio-ops 500 ;;
	seek) echo --seek-size 2m ;;
	sync-file) echo --sync-file-bytes 1m ;;
	esac
}

# stress DIRECTORY SECONDS ARGUMENT...: it succeeds, is not skipped, and leaves
# no files behind.
stress()
{
	dir=$1 seconds=$2
	shift 2
	if stress-ng --verify --oomable --temp-path "$dir" --timeout "$seconds" "$@" \
		>/tmp/stress.log 2>&1 && [ -z "$(ls -A "$dir")" ] &&
		! grep -i 'skipp\|unsupported' /tmp/stress.log; then
		return
	fi
	grep -v 'dispatching\|defaulting\|setting to' /tmp/stress.log
	ls -lR "$dir"
	return 1
}

members()
{
	for class in filesystem io; do
		stress-ng --class "$class?" | sed 's/.*: //'
	done | tr ' ' '\n' | sort -u
}

finish()
{
	umount /mnt/dafs
	tap_run "fsck of the export" sh -c \
		"modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
	tap_done
}

# shellcheck disable=SC2046 # options and their values
for name; do
	tap_run "$name" stress $REMOTE 3 --"$name" 1 $(sizes "$name")
	tap_run "$name on ext4" stress $LOCAL 3 --"$name" 1 $(sizes "$name")
done
[ $# = 0 ] || finish

all=
for name in $(members); do
	why=$(left_out "$name")
	if [ -n "$why" ]; then
		tap_skip "$name on the mount" "$why"
		continue
	fi
	one="--$name 1 $(sizes "$name")"
	# shellcheck disable=SC2086 # options and their values
	tap_run "$name" stress $REMOTE 1 $one
	all="$all $one"
done

for how in direct,wr-rnd,rd-rnd direct,wr-seq,rd-seq,iovec wr-rnd,rd-rnd,dsync \
	wr-seq,rd-rnd,fsync,utimes wr-rnd,rd-seq,iovec,syncfs; do
	tap_run "hdd, $how" stress $REMOTE 1 --hdd 2 --hdd-bytes 2m --hdd-opts $how
done
# shellcheck disable=SC2086 # options and their values
tap_run "all at once" stress $REMOTE 5 $all

finish
