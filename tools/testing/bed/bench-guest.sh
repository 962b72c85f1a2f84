# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of tools/testing/bench. Mounts DAFS and the peers to compare
# with, all at once, and runs the loads on them in turn. Its arguments: the
# peers, separated by commas, and those of bench-load.py.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"
# shellcheck source=tools/testing/bed/peers.sh
. "$BED/peers.sh"

wanted=$1
shift

is_wanted()
{
	case ",$wanted," in
	*",$1,"*) ;;
	*) return 1 ;;
	esac
}

# again NAME COMMAND: mounts a peer once more, as another client: for locks
again()
{
	case $peers in
	*"/mnt/$1"*)
		mkdir -p "/mnt/other-$1" && "$2" "/mnt/other-$1" || return
		others="$others /mnt/other-$1"
		;;
	esac
}

# peer NAME COMMAND...: COMMAND mounts it.
peer()
{
	name=$1
	shift
	is_wanted "$name" || return
	mkdir -p "/mnt/$name"
	if "$@" "/mnt/$name"; then
		peers="$peers /mnt/$name"
	else
		tap_line "# $name is not there on this kernel"
	fi
}

setup_rxe
make_backing /srv/data 900
load_modules /srv/data:no_root_squash

peers='' others=''
peer dafs mount_dafs_peer
peer dafs-none mount_dafs_remembering none
peer dafs-stable mount_dafs_remembering stable
peer dafs-2 mount_dafs_connected 2
peer dafs-4 mount_dafs_connected 4
peer nfs4.2 mount_nfs42
again dafs mount_other_dafs
again nfs4.2 mount_other_nfs42
peer nfs3 mount_nfs3
peer smb mount_smb
peer nvme mount_nvme
peer rnbd mount_rnbd
floor=
if is_wanted rdma; then
	if modprobe -q dafs_floor addr=$ADDR4; then
		floor=--floor
	else
		tap_line "# rdma is not there: no module dafs_floor"
	fi
fi

# shellcheck disable=SC2086 # a list
python3 -B "$BED/bench-load.py" "$@" $floor $peers
status=$?
[ -z "$floor" ] || modprobe -r dafs_floor
for dir in $others $peers; do
	umount "$dir"
done
exit $status
