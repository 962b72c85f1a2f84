# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Random reads and writes of every kind by two clients; fsx:SEED, fsx:SEED:SECONDS.
# bed: um
# timeout: 600

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
mkdir /srv/data/part
load_modules /srv/data:no_root_squash,/srv/data/part:no_root_squash
gcc -O2 -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
seed=${1:-$(date +%s)}
seconds=15
case $seed in
*:*)
	seconds=${seed#*:}
	seed=${seed%%:*}
	;;
esac

# as_two_clients NAME EXPORT OPTIONS ARGUMENT...: fsx by two mounts that the server
# takes for different clients; the server must have what it says it wrote.
as_two_clients()
{
	name=$1 export=$2 options=$3
	shift 3
	mount_dafs "$export" /mnt/one "clientid=one,$options" &&
		mount_dafs "$export" /mnt/two "clientid=two,$options" ||
		tap_bail "no mounts"
	tap_run "$name, seed $seed" /tmp/fsx -s "$seed" -t "$seconds" -o /tmp/copy "$@" \
		/mnt/one/file /mnt/two/file
	umount /mnt/one /mnt/two
	tap_run "$name: the server has the same" cmp /tmp/copy "/srv/$export/file"
}

as_two_clients "as it comes" data hard
as_two_clients "a part of a file system" data/part hard
as_two_clients "any alignment" data hard -a 1
as_two_clients "checksums" data cksum
as_two_clients "small requests" data rsize=16384,wsize=4096,msgsize=4096
tap_done
