# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Random reads and writes of every kind by two clients; fsx:SEED, fsx:SEED:SECONDS[:MODE].
# bed: um
# timeout: 600
#
# An hour of one mode:
#	tools/testing/bed/um --timeout 7200 tools/testing/suites/fsx.sh 7:3600:two

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
mkdir /srv/data/part
EXPORTS=/srv/data:no_root_squash,/srv/data/part:no_root_squash
load_modules $EXPORTS
gcc -O2 -o /tmp/fsx "$BED/../fsx/fsx.c" || tap_bail "fsx does not compile"
seed=${1:-$(date +%s)}
seconds=12 only=
case $seed in
*:*)
	seconds=${seed#*:}
	seed=${seed%%:*}
	case $seconds in
	*:*)
		only=${seconds#*:}
		seconds=${seconds%%:*}
		;;
	esac
	;;
esac

# model MODE EXPORT OPTIONS MOUNTS ARGUMENT...: fsx by one mount or two, which the server
# takes for different clients; the server must have what it says it wrote.
model()
{
	mode=$1 export=$2 options=$3 mounts=$4
	shift 4
	[ "${only:-$mode}" = "$mode" ] || return
	files=
	for mount in $mounts; do
		mount_dafs "$export" "/mnt/$mount" "clientid=$mount,$options" ||
			tap_bail "no mount"
		files="$files /mnt/$mount/file"
	done
	# shellcheck disable=SC2086 # a list of names
	tap_run "$mode, seed $seed" /tmp/fsx -s "$seed" -t "$seconds" -o /tmp/copy \
		-b "/srv/$export/file" "$@" $files
	for mount in $mounts; do
		umount "/mnt/$mount"
	done
	tap_run "$mode: the server has the same" cmp /tmp/copy "/srv/$export/file"
}

# The server goes and comes, and the device under all connections, until /tmp/enough.
disturb()
{
	while [ ! -e /tmp/enough ]; do
		sleep 2
		! modprobe -r dafsd || echo >>/tmp/restarts
		sleep "$1"
		modprobe dafsd exports=$EXPORTS
		sleep 3
		[ "$1" = 0 ] || continue
		rdma link delete rx0
		rdma link add rx0 type rxe netdev dum0
	done
}

disturbed()
{
	rm -f /tmp/enough /tmp/restarts
	disturb "$1" &
	disturber=$!
	shift
	model "$@"
	touch /tmp/enough
	wait $disturber
	tap_run "the server was away meanwhile" [ -s /tmp/restarts ]
}

model one data hard one
model two data hard "one two"
model part data/part hard "one two"
model bytes data hard "one two" -a 1
model cksum data cksum "one two"
model small data rsize=16384,wsize=4096,msgsize=4096 "one two"
# What a server has begun to append when it goes cannot be sent again.
disturbed 0 restart data hard "one two" -f append
[ "$only" != soft ] ||
	disturbed 8 soft data soft,timeo=10,retrans=1 one -f all
tap_done
