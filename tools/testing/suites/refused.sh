# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Errors and messages of mount(2) and fsopen(2) if a mount fails.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
mkdir -p /srv/data/sub/dir /mnt/dafs
echo inside >/srv/data/sub/dir/file
load_modules /srv/data:no_root_squash

# Errno and context log of a mount by fsopen(2), which mount(8) of util-linux
# 2.41 shows.
cat >/tmp/fsmount.py <<'END'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
FSCONFIG_SET_FLAG, FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE = 0, 1, 6
fs = libc.syscall(430, b"dafs", 0)
def config(command, key=None, value=None):
    if libc.syscall(431, fs, command, key, value, 0) < 0:
        raise OSError(ctypes.get_errno(), "fsconfig")
try:
    config(FSCONFIG_SET_STRING, b"source", sys.argv[1].encode())
    for option in sys.argv[2:]:
        name, _, value = option.encode().partition(b"=")
        if value:
            config(FSCONFIG_SET_STRING, name, value)
        else:
            config(FSCONFIG_SET_FLAG, name)
    config(FSCONFIG_CMD_CREATE)
    print("mounted")
except OSError as error:
    print(errno.errorcode[error.errno])
try:
    while True:
        sys.stdout.write(os.read(fs, 4096).decode())
except OSError:
    pass
END

# refused NAME ERRNO WORDS SOURCE [OPTION...]: with mount(2) the reason is in
# the kernel log, with fsopen(2) in the log of the context.
refused()
{
	refused_name=$1 refused_errno=$2 refused_words=$3 refused_source=$4
	shift 4
	refused_text=$(python3 /tmp/fsmount.py "$refused_source" "$@" | tr '\n' ' ')
	case $refused_text in
	"$refused_errno e dafs: "*"$refused_words"*) tap_ok "$refused_name: $refused_errno" ;;
	*)
		tap_not_ok "$refused_name: $refused_errno"
		tap_line "# wanted: $refused_errno, $refused_words"
		tap_line "# got: $refused_text"
		;;
	esac
	refused_options=$(echo "$*" | tr ' ' ,)
	dmesg -C
	mount -t dafs ${refused_options:+-o "$refused_options"} "$refused_source" \
		/mnt/dafs 2>/tmp/mount.said
	case $(dmesg; cat /tmp/mount.said) in
	*"dafs: "*"$refused_words"*) tap_ok "$refused_name: the log" ;;
	*)
		tap_not_ok "$refused_name: the log"
		tap_line "# wanted: $refused_words"
		tap_line "# got: $(dmesg | tr '\n' ' ')"
		;;
	esac
}

refused "no address" EINVAL "source must be" nonsense
refused "a name" EINVAL "is not an IPv4 or IPv6 address" server:/data
refused "a bad srcaddr" EINVAL "srcaddr" $ADDR4:/data srcaddr=me
refused "another machine's srcaddr" EADDRNOTAVAIL "local address" \
	$ADDR4:/data srcaddr=10.9.0.77
refused "a name as another address" EINVAL "is not an IPv4 or IPv6 address" \
	$ADDR4:/data addr=server
refused "too many addresses" EINVAL "more than 4 times addr" $ADDR4:/data \
	addr=1.1.1.1 addr=1.1.1.2 addr=1.1.1.3 addr=1.1.1.4 addr=1.1.1.5
refused "an address of another family" EINVAL "address family" \
	$ADDR4:/data srcaddr=$ADDR4 addr=$ADDR6
refused "fewer connections than addresses" EINVAL "less than the 2 addresses" \
	$ADDR4:/data addr=$ADDR6 nconnect=1
refused "several connections that are not asked for" EINVAL "needs nconnect=1" \
	$ADDR4:/data nconnect=2 respcache=none
refused "no connection" EINVAL "not between 1 and 16" $ADDR4:/data nconnect=0
refused "too many connections" EINVAL "not between 1 and 16" $ADDR4:/data nconnect=17
refused "times the wrong way round" EINVAL "exceeds" $ADDR4:/data acregmin=9 acregmax=3
refused "no such export" ENOENT "no such export" $ADDR4:/nowhere
refused "no such folder" ENOENT "no such export" $ADDR4:/data/sub/missing
refused "through a file" ENOTDIR "no directory" $ADDR4:/data/sub/dir/file/more
refused "a file" ENOTDIR "not a directory" $ADDR4:/data/sub/dir/file
refused "nobody listens on that port" ECONNREFUSED "refused" $ADDR4:/data port=1
refused "no route" ENETUNREACH "no route" 192.0.2.1:/data
ip route add unreachable 192.0.2.2
refused "a route that says so" EHOSTUNREACH "no route" 192.0.2.2:/data
ip route delete unreachable 192.0.2.2
# The interface sends packets, but no machine answers.
refused "nobody answers" ETIMEDOUT "does not answer" ${ADDR4%.*}.77:/data
ip link add dum1 type dummy
ip addr add 10.8.0.1/24 dev dum1
ip link set dum1 up
refused "no RDMA device" ENODEV "no RDMA device" 10.8.0.2:/data
ip link delete dum1
echo N >/sys/module/dafsd/parameters/auth_none
refused "a server that does not trust us" EACCES "refuses this client" \
	$ADDR4:/data
tap_run "such a server takes sec=default" mount_dafs data /mnt/dafs sec=default
tap_fails "and makes root nobody" touch /mnt/dafs/sub/new
umount /mnt/dafs
echo Y >/sys/module/dafsd/parameters/auth_none
mkdir -p /srv/data/private/inside
chmod 700 /srv/data/private
refused "nobody at a private folder" EACCES "let this user see" \
	$ADDR4:/data/private/inside sec=default
tap_run "a client with a name" mount_dafs data /mnt/other clientid=mine
refused "somebody else's name" EBUSY "another client" $ADDR4:/data clientid=mine sec=default
most=$(cat /sys/module/dafsd/parameters/max_sessions)
echo 1 >/sys/module/dafsd/parameters/max_sessions
refused "one session too many" ENOMEM "no room for another session" $ADDR4:/data
echo "$most" >/sys/module/dafsd/parameters/max_sessions
tap_run "who is there is served all the time" ls /mnt/other
umount /mnt/other
modprobe -r dafsd
refused "no server" ECONNREFUSED "refused" $ADDR4:/data
tap_done
