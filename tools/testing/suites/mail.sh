# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# An mbox and a Maildir, and programs that lock by dot-lock, flock(2) or fcntl(2), of two machines.
# bed: um
# timeout: 400
# needs: mail

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
load_modules /srv/data:no_root_squash
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two

# Messages that each of two machines delivers to either mailbox
COUNT=${MAIL_COUNT:-30}
MAIL=$BED/../posix/mail.py

subjects()
{
	seq 0 $((COUNT - 1)) | sed "s/^/$1 /"
}
expected()
{
	for kind in "Maildir one" "Maildir two" "mbox one" "mbox two"; do
		subjects "$kind"
	done | sort
}
python3 -B "$MAIL" deliver $A one "$COUNT" &
one=$!
python3 -B "$MAIL" deliver $B two "$COUNT" &
two=$!
python3 -B "$MAIL" read $B $((2 * COUNT)) >/tmp/read
tap_run "procmail(1) of one client delivers to an mbox and to a Maildir" wait $one
tap_run "and that of another to the same ones" wait $two
tap_is "$(sort /tmp/read)" "$(expected)" "each message is read once, and whole"
tap_is "$(find $D -type f -size +0)" "" "nothing is left"

# increment FOLDER LOCK UNLOCK: ten times, under a lock
increment()
{
	for _ in $(seq 10); do
		"$2" "$1/counter" || return
		echo $(($(cat "$1/counter") + 1)) >"$1/counter"
		"$3" "$1/counter"
	done
}
# counted NAME LOCK UNLOCK: two clients at once
counted()
{
	echo 0 >$D/counter
	increment $A "$2" "$3" &
	one=$!
	increment $B "$2" "$3" &
	wait $! && wait $one
	tap_is "$? $(cat $D/counter)" "0 20" "$1: no increment of a counter is lost"
}
dot_unlock()
{
	rm -f "$1.lock"
}
by_lockfile()
{
	lockfile -1 "$1.lock"
}
by_dotlockfile()
{
	dotlockfile -l -i 1 -r 300 "$1.lock"
}
by_lockfile_create()
{
	lockfile-create --retry 10 "$1"
}
by_flock()
{
	exec 9<>"$1"
	flock 9
}
flock_end()
{
	exec 9>&-
}
counted "lockfile(1)" by_lockfile dot_unlock
counted "dotlockfile(1)" by_dotlockfile dot_unlock
counted "lockfile-create(1)" by_lockfile_create dot_unlock
counted "flock(1)" by_flock flock_end
tap_run "umount" umount $A $B
tap_done
