# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of tools/testing/bench --recovery: how long a writer waits for a server that
# comes back, of DAFS and of NFS. Its argument: the number of rounds.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"
# shellcheck source=tools/testing/bed/peers.sh
. "$BED/peers.sh"

# NFS has the same lease: see start_nfs_server
EXPORTS=/srv/data:no_root_squash LEASE=10

# So that NFS knows, too, when all its clients are back
remember_clients()
{
	mkdir -p /var/lib/nfs/nfsdcld &&
		mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs &&
		nfsdcld -p /var/lib/nfs/rpc_pipefs &&
		rpc.nfsd 0 && rpc.nfsd --rdma=20049 8
}

setup_rxe
make_backing /srv/data 200
modprobe dafsd exports=$EXPORTS lease=$LEASE && modprobe dafs || exit
mkdir -p /mnt/dafs /mnt/nfs4.2
mount_dafs_peer /mnt/dafs && start_nfs_server && remember_clients && mount_nfs42 /mnt/nfs4.2 ||
	exit
python3 -B "$BED/recovery-load.py" "$1" \
	"dafs=/mnt/dafs=modprobe -r dafsd; modprobe dafsd exports=$EXPORTS lease=$LEASE" \
	"nfs4.2=/mnt/nfs4.2=rpc.nfsd 0 && rpc.nfsd --rdma=20049 8"
status=$?
umount /mnt/dafs /mnt/nfs4.2
rpc.nfsd 0
exportfs -ua
exit $status
