# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The administrator lists what clients hold, and takes it from them: tools/dafsdctl.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data $((128 + ${ADMIN_MANY:-2000} / 60))
A=/mnt/a B=/mnt/b D=/srv/data
# Locks and opens in long lists, at most; 100000 by hand
MANY=${ADMIN_MANY:-2000}

# said COMMAND...: what it prints, if it fails
said()
{
	"$@" 2>&1 && echo "it succeeds"
}

# value NAME, of lines of dafsdctl
value()
{
	grep -oE "(^| )$1=[^ ]+" | cut -d = -f 2
}

# client NAME: its client-id
client()
{
	dafsdctl clients | grep " name=\"[^\"]*$1\"\| name=[^ ]*$1 " | value client
}

# states NAME PATTERN: opens and delegations of a client
states()
{
	dafsdctl states "$(client "$1")" | grep "$2"
}

# count VERB NAME PATTERN
count()
{
	dafsdctl "$1" "$(client "$2")" >/tmp/counted || echo failed
	grep -c "$3" /tmp/counted
}

none="dafsdctl: the module dafsd is not loaded, is of another version, or this is not the first \
network namespace: run it on the host"
tap_is "$(said dafsdctl clients)" "$none" "without the server"
modprobe dafsd exports=$D:no_root_squash lease=20
modprobe dafs
tap_is "$(dafsdctl clients; dafsdctl states; dafsdctl locks)" "" "without clients"
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two
tap_is "$(dafsdctl clients | value address | sort -u)" 10.9.0.1 "clients have an address"
tap_run "and names" [ "$(client one)" != "$(client two)" ]
tap_is "$(dafsdctl clients | value sessions | tr '\n' ' ')" "1 1 " "a session each"
tap_is "$(cat /sys/fs/dafsd/*/client_id | sort)" "$(dafsdctl clients | value client | sort)" \
	"sysfs tells the same client-ids"

# hold FILE: a program locks the first and the last bytes, and writes when let_go() says so
hold()
{
	rm -f /tmp/held /tmp/write
	python3 -B "$BED/../posix/hold.py" hold "$1" /tmp/held /tmp/write \
		write:0:10 read:100:0 >/tmp/wrote &
	holder=$!
	eventually [ -e /tmp/held ] || tap_not_ok "locks of $1"
}
let_go()
{
	touch /tmp/write
	wait $holder
}

# without delegations, because a client with one would not ask for locks
max=$(cat /sys/module/dafsd/parameters/max_delegations)
echo 0 >/sys/module/dafsd/parameters/max_delegations
hold "$A/a file"
tap_is "$(states one . | sed 's/.* kind/kind/; s/ owner=.*//')" \
	"kind=open export=data ino=$(stat -c %i "$D/a file") path=\"$D/a file\" access=rw deny=-" \
	"an open is listed"
tap_is "$(dafsdctl locks | sed 's/.*client=[^ ]* //')" "write start=0 end=9
start=100 end=-" "and its locks"
tap_is "$(dafsdctl locks | value state | sort -u)" "$(states one . | value state)" \
	"by the state-id of the open"
tap_is "$(count states two .) $(count locks two .)" "0 0" "another client has none"
tap_is "$(dafsdctl --json locks | head -n 1 | python3 -c '
import json, sys
lock = json.load(sys.stdin)
print(lock["write"], lock["start"], lock["end"])')" "True 0 9" "as JSON"
tap_is "$(dafsdctl locks --json | md5sum)" "$(dafsdctl --json locks | md5sum)" \
	"wherever that is said"
tap_is "$(dafsdctl --help 2>/dev/null | head -n 1)" \
	"Shows what clients of the DAFS server hold, and takes it from them." "help is no error"
tap_is "$(dafsdctl clients "$(client one)" 2>&1 | head -n 1)" \
	"Shows what clients of the DAFS server hold, and takes it from them." \
	"a list of clients takes no argument"

# Who may, and what is refused
deny="dafsdctl: this needs CAP_NET_ADMIN in the first user namespace"
tap_is "$(said setpriv --reuid 1000 --clear-groups dafsdctl clients)" \
	"$deny" "others may not list"
tap_is "$(said setpriv --reuid 1000 --clear-groups dafsdctl expire "$(client one)")" \
	"$deny" "nor expire"
tap_is "$(said unshare -n dafsdctl clients)" "$none" \
	"nor is the server seen in another network namespace"
tap_is "$(said dafsdctl revoke 0000000000000000; said dafsdctl revoke ffffffffffffffff
	said dafsdctl revoke 1234567812345678; said dafsdctl expire 1234567812345678)" \
	"dafsdctl: there is no such client or state
dafsdctl: there is no such client or state
dafsdctl: there is no such client or state
dafsdctl: there is no such client or state" "what does not exist"
tap_is "$(said dafsdctl expire one; said dafsdctl revoke 12345678)" \
	"dafsdctl: 'one' is not an id of 16 hexadecimal digits
dafsdctl: '12345678' is not an id of 16 hexadecimal digits" "what is no id"
cat >/tmp/raw.py <<'PY'
import importlib.machinery, importlib.util, errno, os, sys
loader = importlib.machinery.SourceFileLoader("ctl", sys.argv[1])
ctl = importlib.util.module_from_spec(importlib.util.spec_from_loader("ctl", loader))
loader.exec_module(ctl)
server = ctl.Server()
def ask(command, flags, payload):
    try:
        list(server.send(server.family, command, flags, payload))
        print("OK")
    except OSError as error:
        print(errno.errorcode[error.errno])
for command in ctl.CLIENT_EXPIRE, ctl.STATE_REVOKE:
    ask(command, ctl.ACK, b"")
    ask(command, ctl.ACK, ctl.attribute(1, b"short"))
    ask(command, ctl.ACK, ctl.attribute(2, bytes(8)))
ask(ctl.STATE_GET, ctl.DUMP, ctl.attribute(2, bytes(9)))
ask(ctl.STATE_GET, ctl.ACK, b"")
ask(99, ctl.ACK, b"")
PY
tap_is "$(python3 -B /tmp/raw.py "$(command -v dafsdctl)" | tr '\n' ' ')" \
	"EINVAL ERANGE EINVAL EINVAL ERANGE EINVAL ERANGE ENOTSUP ENOTSUP " \
	"the kernel refuses malformed requests"

# An open is revoked
tap_fails "another client does not get the lock" \
	flock -n "$B/a file" true
open=$(states one . | value state)
tap_run "an open is revoked" dafsdctl revoke "$open"
tap_is "$(count locks one .)" 0 "its locks are gone"
tap_run "another client gets them" flock -n "$B/a file" true
tap_is "$(said dafsdctl revoke "$open")" "dafsdctl: there is no such client or state" \
	"it cannot be revoked again"
let_go
tap_is "$(cat /tmp/wrote)" EIO "who had locked writes no more"
echo after >"$A/a file"
tap_is "$(cat "$B/a file")" after "a program that opens the file anew does"

# A client is ended
hold $A/ended
former=$(client one)
tap_run "a client is ended" dafsdctl expire "$former"
tap_run "another client gets its locks" flock -n $B/ended true
tap_run "it connects again" stat -f $A
tap_run "as a client of its name" [ "$(client one)" ]
tap_run "with another client-id" [ "$(client one)" != "$former" ]
tap_is "$(said dafsdctl expire "$former")" "dafsdctl: there is no such client or state" \
	"the former is not ended again"
let_go
tap_is "$(cat /tmp/wrote)" EIO "who had locked writes no more"
echo after >$A/ended
tap_is "$(cat $B/ended)" after "a program that opens the file anew does"

# A delegation is recalled
echo "$max" >/sys/module/dafsd/parameters/max_delegations
echo old >$D/delegated
has_delegation()
{
	cat $A/delegated >/dev/null
	states one kind=delegation >/tmp/delegation
}
tap_run "a client has a delegation" eventually has_delegation
tap_is "$(grep -oE 'path=[^ ]*|access=[^ ]*' /tmp/delegation | tr '\n' ' ')" \
	"path=$D/delegated access=r " "it is listed"
tap_is "$(dafsdctl clients | grep "$(client one)" | value delegations)" 1 "and counted"
tap_run "it is revoked" dafsdctl revoke "$(value state </tmp/delegation)"
no_delegation()
{
	dafsdctl states "$(client one)" >/tmp/states && ! grep -q kind=delegation /tmp/states
}
tap_run "the client returns it" eventually no_delegation
echo new >$D/delegated
tap_is "$(cat $A/delegated)" new "and shows what others write"

# Long lists, which take many messages, while clients open and close files
cat >/tmp/many.py <<'PY'
import fcntl, os, resource, sys, time
top, files, locks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (files + 100, files + 100))
fds = [os.open(f"{top}/many{n}", os.O_RDWR | os.O_CREAT) for n in range(files)]
for fd in fds:
    for n in range(locks):
        fcntl.lockf(fd, fcntl.LOCK_EX, 1, 2 * n)
open("/tmp/many", "w").close()
while os.path.exists("/tmp/many"):
    time.sleep(0.05)
PY

# made: as long as it takes to make so many, see many.py
made()
{
	while [ ! -e /tmp/many ]; do
		kill -0 $many || return 1
		sleep 0.2
	done
}

echo 0 >/sys/module/dafsd/parameters/max_delegations
echo 1000000 >/sys/module/dafsd/parameters/max_locks
echo 1000000 >/sys/module/dafsd/parameters/max_opens
echo 1000 >/sys/module/dafsd/parameters/max_state
python3 -B /tmp/many.py $A $((MANY / 100)) 100 &
many=$!
while :; do
	echo x >$B/moment
	cat $B/moment >/dev/null
done &
other=$!
tap_run "a client has many opens and locks" made
dafsdctl locks "$(client one)" >/tmp/locks
tap_is "$(wc -l </tmp/locks) $(sort -u </tmp/locks | wc -l)" "$MANY $MANY" \
	"a long list of locks is complete"
dafsdctl states >/tmp/states
tap_is "$(grep -c path=$D/many /tmp/states) $(value state </tmp/states | sort | uniq -d)" \
	"$((MANY / 100)) " "and that of all opens has none twice"
tap_run "a list that is not read to its end" sh -c \
	"dafsdctl locks | head -n 1 >/dev/null"
kill $other
wait $other 2>/dev/null
rm /tmp/many
wait $many
python3 -B /tmp/many.py $A "$MANY" 0 &
many=$!
tap_run "a client has many opens" made
tap_is "$(count states one path=$D/many)" "$MANY" "all are listed"
tap_run "it is ended" dafsdctl expire "$(client one)"
rm /tmp/many
wait $many
tap_is "$(dafsdctl states | grep -c path=$D/many)" 0 "nothing is left of that"

umount $A $B
tap_is "$(dafsdctl states)" "" "without mounts there is no state"
tap_run "fsck of the export" sh -c "modprobe -r dafs dafsd; umount $D && e2fsck -f -n /dev/ram0"
tap_done
