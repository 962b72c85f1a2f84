# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# The peers that DAFS is compared with, each mounted over soft-RoCE from this
# machine. Every function mounts on the given folder, or fails; some take options, too. The file servers
# share one export; each block server has a separate RAM disk, with ext4 made by
# the client.

NFS_EXPORT=/srv/data

# The server's programs write below /var/lib/nfs.
start_nfs_server()
{
	[ -z "${NFS_STARTED:-}" ] || return "$NFS_STARTED"
	NFS_STARTED=1
	modprobe -q nfsd
	modprobe -q rpcrdma
	# NFSv4, too, grants no locks in the grace period of lockd
	[ ! -e /proc/sys/fs/nfs/nlm_grace_period ] ||
		echo 10 >/proc/sys/fs/nfs/nlm_grace_period
	grep -qw nfsd /proc/filesystems || return 1
	mount -t tmpfs nfs /var/lib/nfs &&
	mkdir -p /var/lib/nfs/rpc_pipefs /var/lib/nfs/v4recovery \
		/var/lib/nfs/sm /run/rpcbind &&
	touch /var/lib/nfs/etab /var/lib/nfs/rmtab &&
	mount -t nfsd nfsd /proc/fs/nfsd &&
	echo 10 >/proc/fs/nfsd/nfsv4leasetime &&
	echo 10 >/proc/fs/nfsd/nfsv4gracetime &&
	rpcbind -w &&
	exportfs -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=0 \
		"*:$NFS_EXPORT" &&
	rpc.mountd --port 20048 &&
	rpc.nfsd --rdma=20049 8 &&
	sleep 11 &&	# NFSv4 starts with a grace period
	NFS_STARTED=0
}

mount_dafs_peer()
{
	mount_dafs data "$1" "${2:-}"
}

# mount_dafs_connected NUMBER DIR: by so many connections
mount_dafs_connected()
{
	mount_dafs_peer "$2" "clientid=by$1,nconnect=$1"
}

# mount_dafs_remembering HOW DIR: by a session whose requests the server remembers so
mount_dafs_remembering()
{
	kind=/sys/module/dafsd/parameters/respcache
	echo "$1" >$kind
	mount_dafs_peer "$2" "clientid=$1,respcache=$1"
	mounted=$?
	echo volatile >$kind
	return $mounted
}

mount_nfs42()
{
	start_nfs_server &&
	mount -t nfs -o vers=4.2,proto=rdma,port=20049 "$ADDR4:/" "$1"
}

# The server does not recall what it has delegated to the client that asks: another mount has
# to be of another client, which has another name and another address of the server.
mount_other_nfs42()
{
	echo other >/sys/module/nfs/parameters/nfs4_unique_id &&
	mount -t nfs -o vers=4.2,proto=rdma6,port=20049 "[$ADDR6]:/" "$1"
}

mount_other_dafs()
{
	mount_dafs_peer "$1" clientid=other
}

mount_nfs3()
{
	start_nfs_server &&
	mount -t nfs -o vers=3,proto=rdma,port=20049,nolock,mountproto=tcp,mountport=20048 \
		"$ADDR4:$NFS_EXPORT" "$1"
}

# The server of SMB takes its shares and users from a daemon; Direct is on port
# 445 of an RDMA device. The client needs no program.
mount_smb()
{
	[ -e /sys/class/ksmbd-control ] || modprobe -q ksmbd
	modprobe -q cifs
	[ -e /sys/class/ksmbd-control ] && grep -qw cifs /proc/filesystems ||
		return
	mount -t tmpfs ksmbd /etc/ksmbd &&
	printf '[data]\n\tpath = %s\n\twriteable = yes\n' $NFS_EXPORT \
		>/etc/ksmbd/ksmbd.conf &&
	ksmbd.adduser -a root -p bench >/dev/null &&
	ksmbd.mountd &&
	mount -i -t cifs "//$ADDR4/data" "$1" \
		-o "rdma,vers=3.1.1,ip=$ADDR4,username=root,password=bench"
}

# wait_for FILE: waits for a device.
wait_for()
{
	for _ in $(seq 50); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

# mount_new DEVICE DIR
mount_new()
{
	wait_for "$1" && mkfs.ext4 -q -F -I 256 "$1" && mount -t ext4 "$1" "$2"
}

mount_nvme()
{
	modprobe -q nvmet_rdma
	modprobe -q nvme_rdma
	[ -e /dev/nvme-fabrics ] || return
	mountpoint -q /sys/kernel/config ||
		mount -t configfs configfs /sys/kernel/config
	target=/sys/kernel/config/nvmet
	subsystem=$target/subsystems/bench
	port=$target/ports/1
	mkdir "$subsystem" "$subsystem/namespaces/1" "$port" &&
	echo 1 >"$subsystem/attr_allow_any_host" &&
	echo /dev/ram1 >"$subsystem/namespaces/1/device_path" &&
	echo 1 >"$subsystem/namespaces/1/enable" &&
	echo rdma >"$port/addr_trtype" &&
	echo ipv4 >"$port/addr_adrfam" &&
	echo $ADDR4 >"$port/addr_traddr" &&
	echo 4420 >"$port/addr_trsvcid" &&
	ln -s "$subsystem" "$port/subsystems/bench" &&
	printf 'transport=rdma,traddr=%s,trsvcid=4420,nqn=bench' $ADDR4 \
		>/dev/nvme-fabrics &&
	mount_new /dev/nvme0n1 "$1"
}

mount_rnbd()
{
	modprobe -q rnbd_server
	modprobe -q rnbd_client
	control=/sys/devices/virtual/rnbd-client/ctl
	[ -d $control ] || control=/sys/class/rnbd-client/ctl
	[ -d $control ] || return
	echo "sessname=bench path=ip:$ADDR4 device_path=/dev/ram2" \
		>$control/map_device &&
	mount_new /dev/rnbd0 "$1"
}
