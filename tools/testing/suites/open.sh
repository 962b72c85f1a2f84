# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Open files: unlinked, created by one of many, replaced, executed.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 128
load_modules /srv/data:no_root_squash
A=/mnt/a B=/mnt/b D=/srv/data
tap_run "one client" mount_dafs data $A clientid=one,noac
tap_run "another client" mount_dafs data $B clientid=two,noac

blocks()
{
	stat -f -c %f $D
}

# R-6.5.7-02 R-6.5.33-07: no name any more, but all the data.
exec 3<>$A/gone
echo first >&3
rm $A/gone
tap_is "$(ls -A $A)" lost+found "a file removed while open leaves no name behind"
tap_is "$(ls -A $D)" lost+found "nor at the server"
tap_is "$(stat -L -c %h /proc/self/fd/3)" 0 "it has no links"
echo second >&3
echo 3 >/proc/sys/vm/drop_caches
tap_is "$(cat /proc/self/fd/3)" "first
second" "it is read, and written, as before"
exec 3>&-
echo first >$A/gone
exec 3<$A/gone
rm $A/gone
tap_run "who has it open for reading opens it for writing" sh -c 'echo second >>/proc/self/fd/3'
tap_is "$(tail -n 1 <&3)" second "what was written that way is there"
exec 3>&-

# The same, removed by another client; the space is freed at the last close.
# R-6.5.7-03: the name is gone for both.
before=$(blocks)
dd if=/dev/zero of=$A/big bs=1M count=8 conv=fsync 2>/dev/null
exec 3<$A/big 4<$B/big
rm $B/big
tap_fails "removed by another client, the name is gone" cat $A/big
tap_is "$(dd bs=1M <&3 2>/dev/null | wc -c)" 8388608 "who has it open reads all of it"
exec 3<&-
tap_is "$(dd bs=1M <&4 2>/dev/null | wc -c)" 8388608 "so does the other who has"
tap_run "its space is still taken" test "$(blocks)" -lt $((before - 1000))
exec 4<&-
given_back()
{
	sync -f $D && [ "$(blocks)" -gt $((before - 1000)) ]
}
tap_run "the last close gives it back" eventually given_back

# R-6.5.34-08: replaced by a rename, and removed locally at the server.
echo old >$A/name
echo new >$A/other
exec 3<$A/name
mv -f $B/other $B/name
tap_is "$(cat <&3)" old "who has the replaced file open reads the old one"
tap_is "$(cat $A/name)" new "the name leads to the new one"
exec 3<&-
echo mapped >$A/program
cat >/tmp/map.py <<'PY'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(fd, 6)
os.close(fd)
os.unlink(sys.argv[1])
m[0:6] = b"MAPPED"
m.flush()
sys.stdout.write(m[0:6].decode())
PY
tap_is "$(python3 /tmp/map.py $A/program)" MAPPED "a mapping outlives descriptor and name"

# O_EXCL: one of many creates the file (R-6.5.24-07).
race()
{
	for n in 1 2 3 4 5 6; do
		dir=$A
		[ $((n % 2)) = 0 ] || dir=$B
		(set -C; echo $n >$dir/lock) 2>/dev/null && echo won >>/tmp/won &
	done
	wait
	wc -l </tmp/won && rm $A/lock /tmp/won
}
for round in 1 2 3 4 5; do
	tap_is "$(race)" 1 "round $round: one of six gets the lock"
done
now=$(date +%s)
(umask 026; set -C; : >$A/exclusive)
tap_is "$(stat -c %a $D/exclusive)" 640 "O_EXCL gives the mode that was asked for"
touch -d @0 $D/epoch
tap_fails "an empty file of 1970 is not one that O_EXCL has made" sh -c "set -C; : >$A/epoch"
tap_run "and the present time" test "$(stat -c %Y $D/exclusive)" -ge "$now" -a \
	"$(stat -c %X $D/exclusive)" -le $((now + 60))
tap_fails "and refuses a name that is taken" sh -C -c ": >$B/exclusive"

# If a response is lost with the connection, the retry does not return EEXIST.
cat >/tmp/excl.py <<'PY'
import os, sys
n = 0
while not os.path.exists("/tmp/enough"):
    os.close(os.open("%s/excl%d" % (sys.argv[1], n), os.O_CREAT | os.O_EXCL, 0o600))
    n += 1
print(n)
PY
mkdir $A/many
python3 /tmp/excl.py $A/many >/tmp/made &
maker=$!
for round in 1 2 3; do
	sleep 1
	rdma link delete rx0
	rdma link add rx0 type rxe netdev dum0
done
sleep 2
: >/tmp/enough
tap_run "O_EXCL lives through lost connections" wait $maker
tap_is "$(find $D/many -type f | wc -l)" "$(cat /tmp/made)" "each file was made once"

# O_TMPFILE
cat >/tmp/tmpfile.py <<'PY'
import ctypes, os, stat, sys
top, how = sys.argv[1], sys.argv[2]
before = sorted(os.listdir(top))
os.umask(0o022)
fd = os.open(top, os.O_TMPFILE | os.O_RDWR, 0o666)
os.write(fd, b"content")
st = os.fstat(fd)
assert sorted(os.listdir(top)) == before
assert (st.st_nlink, st.st_size, stat.S_IMODE(st.st_mode)) == (0, 7, 0o644), st
assert os.pread(fd, 10, 0) == b"content"
again = os.open("/proc/self/fd/%d" % fd, os.O_RDONLY)
os.close(fd)
assert os.read(again, 10) == b"content"
if how == "link":
    # only with src_dir_fd it is linkat(2), which follows links
    fds = os.open("/proc/self/fd", os.O_RDONLY)
    os.link(str(again), top + "/linked", src_dir_fd=fds, follow_symlinks=True)
    assert os.fstat(again).st_nlink == 1
    # without a lookup in between
    more = os.open(top, os.O_TMPFILE | os.O_RDWR, 0o666)
    libc = ctypes.CDLL(None)
    for name in "one", "two":
        # AT_EMPTY_PATH
        assert not libc.linkat(more, b"", -1, (top + "/more." + name).encode(), 0x1000), name
    assert os.fstat(more).st_nlink == 2
    os.unlink(top + "/more.one")
    assert os.fstat(more).st_nlink == 1
os.close(again)
PY
tap_run "O_TMPFILE makes a file without a name" python3 /tmp/tmpfile.py $A plain
tap_run "nothing is left of it at the server" \
	sh -c "mount -o remount,ro $D && mount -o remount,rw $D"
tap_run "linkat(2) gives it one" python3 /tmp/tmpfile.py $A link
tap_is "$(cat $D/linked) $(stat -c %h $D/linked)" "content 1" "that the server has"

# A running program may be removed and replaced, but not written to.
cp "$(command -v sleep)" $A/sleep
$A/sleep 60 &
pid=$!
until [ "$(readlink /proc/$pid/exe)" = $A/sleep ]; do
	sleep 0.1
done
tap_fails "a running program is not written to" sh -c "echo x >>$A/sleep"
tap_run "but removed" rm $A/sleep
tap_run "and another put in its place" cp "$(command -v sleep)" $A/sleep
tap_run "it runs on" kill -0 $pid
kill $pid
wait $pid 2>/dev/null

umount $A $B

# A task that is killed during an OPEN leaves nothing open.
cat >/tmp/killed.py <<-"EOF"
	import os, random, signal, time

	def open_for_ever():
	    while True:
	        os.close(os.open("/mnt/a/killed", os.O_RDWR))

	open("/mnt/a/killed", "w").close()
	for turn in range(60):
	    child = os.fork()
	    if not child:
	        open_for_ever()
	    time.sleep(random.uniform(0.01, 0.03))
	    os.kill(child, signal.SIGKILL)
	    os.waitpid(child, 0)
EOF
none_open()
{
	[ "$(cat /sys/fs/dafsd/*/opens)" = 0 ]
}
# with a delegation the client keeps the file open
echo 0 >/sys/module/dafsd/parameters/max_delegations
mount_dafs data $A
python3 /tmp/killed.py
tap_run "opens do not outlive who was killed" eventually none_open

# It does not wait for the server's file system either.
fsfreeze -f $D
: >$A/frozen &
victim=$!
tap_run "who makes a file waits for a server that stands still" waits_for_server $victim
kill -9 $victim
tap_run "who is killed does not wait for a server that stands still" eventually gone $victim
fsfreeze -u $D
tap_run "and leaves no open behind" eventually none_open
tap_run "of the file it has made" [ -e $D/frozen ]
umount $A
tap_run "fsck of the export" sh -c "modprobe -r dafs dafsd; umount $D && e2fsck -f -n /dev/ram0"
tap_done
