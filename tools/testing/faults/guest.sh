# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Common part of the suites with failing allocations.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

# All pages of the RAM disk are allocated in advance: a failed allocation there
# would look like a disk error to the server's file system.
dd if=/dev/zero of=/dev/ram0 bs=1M count=64 2>/dev/null
setup_rxe
make_backing /srv/data 64
make_backing /srv/inner 8
mkdir /srv/data/inner
mount --bind /srv/inner /srv/data/inner
touch /srv/data/inner/here
rmdir /srv/data/inner/lost+found
mount -t configfs none /sys/kernel/config
FAULT_EXPORTS=exports=/srv/data:no_root_squash,/srv/data/inner:no_root_squash:name=data/inner
export FAULT_EXPORTS
load_modules "${FAULT_EXPORTS#*=}"
# A delegated file stays open at the server, where a case looks for what is left.
echo 0 >/sys/module/dafsd/parameters/max_delegations
mount_dafs data /mnt/dafs max_requests=2,actimeo=0 || tap_bail "no mount"

# shellcheck disable=SC2034 # used there
names="mkdir mknod symlink link rename lookup attributes readdir crossing setattr open
	create create_excl unlink_open tmpfile user"
# shellcheck disable=SC2034
data="write write_large write_sync write_close commit direct direct_large append
	append_large read read_large sendfile map"
# shellcheck disable=SC2034
sessions="users export umount mount reconnect restart"

# fail SIDE CASE...: as in faults.py
fail()
{
	side=$1
	shift
	python3 -B "$BED/../faults/faults.py" "$side" /mnt/dafs /srv/data "$@" >/tmp/said
	tap_run "$side: all cases" [ $? = 0 ]
	while read -r wrong said; do
		tap_result "$wrong" "$said"
	done </tmp/said
}

# fail_all SIDE CASE...: with every allocation
fail_all()
{
	export FAULT_ALL=1
	fail "$@"
}
