# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Caching of attributes, names and data, and when clients ask the server again.
# bed: um
# timeout: 240

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"
# shellcheck source=tools/testing/bed/requests.sh
. "$BED/requests.sh"

setup_rxe
make_backing /srv/data 64
load_modules /srv/data:no_root_squash
# what is asked of a file that is not delegated; the suite deleg has the others
echo 0 >/sys/module/dafsd/parameters/max_delegations

quiet_cat()
{
	cat "$@" >/dev/null
}

# Two mounts are two clients that share nothing. Attributes are cached for so
# long that expiry does not hide missing invalidation.
mount_dafs data /mnt/a actimeo=600
mount_dafs data /mnt/b actimeo=600,nosharecache
mkdir /mnt/a/one /mnt/a/many

# Close to open.
echo aaaa >/mnt/a/f
quiet_cat /mnt/a/f
echo bbbb >/mnt/b/f
tap_is "$(cat /mnt/a/f)" bbbb "an open sees what another client closed"
echo cccc >/mnt/a/f
tap_is "$(cat /mnt/b/f)" cccc "and the other way"
echo dddd >/srv/data/f
tap_is "$(cat /mnt/a/f)" dddd "so with what the server's own users write"
echo longer than before >/mnt/b/f
tap_is "$(cat /mnt/a/f)" "longer than before" "a larger file"
: >/mnt/b/f
tap_is "$(cat /mnt/a/f)" "" "an empty one"

# The same if the file is open already; and after close(2) data is stable, not only
# sent to the server.
exec 5</mnt/a/f
printf 1234 >/srv/data/f
quiet_cat /mnt/a/f
printf 5678 >/srv/data/f
tap_is "$(cat /mnt/a/f)" 5678 "an open beside another one"
exec 5<&-

# After close(2) of one descriptor cached data is known to be valid, and changes of others
# are detected, even if another descriptor is open for writing.
exec 5<>/mnt/a/f
printf aaaa >&5
requests cat /mnt/a/f >/dev/null
tap_is "$(asked READ_INLINE) $(asked READ_DIRECT)" "0 0" "close(2) of one descriptor of two"
printf bbbb >/srv/data/f
tap_is "$(cat /mnt/a/f)" bbbb "a change by others while a writer has another descriptor"
exec 5<&-
tap_is "$(python3 -c '
import mmap, os
mapped = mmap.mmap(os.open("/mnt/a/f", os.O_RDONLY), 4, prot=mmap.PROT_READ)
mapped[:]
open("/srv/data/f", "w").write("open")
os.open("/mnt/a/f", os.O_RDONLY)
print(mapped[:].decode())')" open "what is mapped is as new as the last open"
head -c 3000000 /dev/urandom >/tmp/random
requests cp /tmp/random /mnt/a/closed
tap_run "close(2) commits" [ "$(asked COMMIT)" -ge 1 ]
cat >/tmp/synced.py <<'END'
import os
fd = os.open("/mnt/a/closed", os.O_WRONLY)
os.write(fd, b"x" * 3000000)
os.fsync(fd)
with open("/sys/kernel/tracing/trace") as trace:
    print("COMMIT" if " COMMIT " in trace.read() else "none")
END
requests python3 /tmp/synced.py >/tmp/synced
tap_is "$(cat /tmp/synced)" COMMIT "and so does fsync(2)"

# Changes and requests of this client do not hide changes of others.
user_may_read()
{
	setpriv --reuid=1000 --regid=1000 --clear-groups test -r "$1"
}
cat >/tmp/hidden.py <<'END'
import os
fd = os.open("/mnt/a/hidden", os.O_RDWR)
os.pread(fd, 99, 0)
os.chmod("/mnt/a/hidden", 0o640)
with open("/srv/data/hidden", "w") as file:
    file.write("theirs, longer")
os.stat("/mnt/a/hidden")
print(os.pread(fd, 99, 0).decode())
END
cat >/tmp/shared.py <<'END'
import os
fd = os.open("/mnt/a/shared", os.O_RDWR | os.O_CREAT)
os.write(fd, b"ours")
os.pread(fd, 4, 0)
other = os.dup(fd)
os.close(fd)
with open("/srv/data/shared", "r+") as file:
    file.write("them")
print(open("/mnt/a/shared").read())
END
tap_is "$(python3 /tmp/shared.py)" them "a change by others after one of two descriptors is closed"
printf ours >/mnt/a/hidden
tap_is "$(python3 /tmp/hidden.py)" "theirs, longer" "another size, after our chmod"
stat /mnt/a/one/late >/dev/null 2>&1
touch /srv/data/one/late /mnt/a/one/early
tap_run "a name made by others just before one that is made here" stat /mnt/a/one/late
chmod 644 /srv/data/f
stat --cached=never /mnt/a/f >/dev/null
tap_run "a right that is known" user_may_read /mnt/a/f
chmod 640 /mnt/a/f
tap_fails "ends when the mode is changed here" user_may_read /mnt/a/f
chmod 644 /mnt/a/f
tap_run "and is had again" user_may_read /mnt/a/f
chmod 600 /srv/data/f
tap_is "$(stat -c %a /mnt/a/f) $(stat --cached=never -c %a /mnt/a/f)" "644 600" \
	"who wants attributes as they are now gets them"
tap_fails "and they end the right" user_may_read /mnt/a/f

# An object removed at the server is gone, although its name is still cached.
mount_dafs data /mnt/c acregmin=0,acregmax=0,acdirmin=600,acdirmax=600,nosharecache
: >/srv/data/gone
tap_run "a name that is believed" stat /mnt/c/gone
rm /srv/data/gone
tap_fails "of what others have removed" stat /mnt/c/gone
umount /mnt/c

# Open descriptors see writes of others when attributes have expired.
cat >/tmp/aged.py <<'END'
import errno, mmap, os, time
names = ["read", "nowait", "sendfile", "mmap", "seek"]
for name in names:
    with open(f"/srv/data/aged-{name}", "w") as file:
        file.write("old")
fds = {name: os.open(f"/mnt/c/aged-{name}", os.O_RDONLY) for name in names}
for fd in fds.values():
    os.pread(fd, 9, 0)
for name in names:
    with open(f"/srv/data/aged-{name}", "w") as file:
        file.write("longer" if name == "seek" else "new")
time.sleep(2)
print(os.pread(fds["read"], 9, 0).decode(), end=" ")
try:
    buffer = bytearray(3)
    os.preadv(fds["nowait"], [buffer], 0, os.RWF_NOWAIT)
    print(buffer.decode(), end=" ")
except OSError as error:
    print(errno.errorcode[error.errno], end=" ")
out = os.memfd_create("out")
os.sendfile(out, fds["sendfile"], 0, 9)
print(os.pread(out, 9, 0).decode(), end=" ")
print(mmap.mmap(fds["mmap"], 3, prot=mmap.PROT_READ)[:].decode(), end=" ")
print(os.lseek(fds["seek"], 0, os.SEEK_END))
END
# The rights of user 1000 in an ACL under which the mode stays the same
cat >/tmp/acl.py <<'END'
import os, struct, sys
entries = (1, 6, -1), (2, int(sys.argv[2]), 1000), (4, 0, -1), (16, 4, -1), (32, 0, -1)
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) +
            b"".join(struct.pack("<HHi", *entry) for entry in entries))
END
mount_dafs data /mnt/c actimeo=1,nosharecache
: >/srv/data/acl
python3 /tmp/acl.py /srv/data/acl 4
tap_run "a right by an ACL" user_may_read /mnt/c/acl
python3 /tmp/acl.py /srv/data/acl 0
tap_is "$(python3 /tmp/aged.py)" "new EAGAIN new new 6" "open files whose attributes are old"
tap_fails "a right is not believed for longer" user_may_read /mnt/c/acl
umount /mnt/c

# Leases are refused without delegations: a client does not notice opens of others.
lease()
{
	python3 -c '
import errno, fcntl, os, sys
try:
    fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
except OSError as error:
    print(errno.errorcode[error.errno])
' "$1"
}
tap_is "$(lease /srv/data/f)" "" "ext4 gives leases"
tap_is "$(lease /mnt/a/f) $(lease /mnt/a/one)" "EAGAIN EINVAL" "a client gives none"

# Changes of this client must not hide later changes of others.
own_then_other()
{
	echo 1111 >/mnt/a/own
	quiet_cat /mnt/a/own
	"$@"
	echo 2222 >/srv/data/own
	stat /mnt/a/own >/dev/null
	cat /mnt/a/own
}
tap_is "$(own_then_other chmod 600 /mnt/a/own)" 2222 "a change by others after our chmod"
tap_is "$(own_then_other touch -d 2001-01-01 /mnt/a/own)" 2222 "after our utimes"
rename_twice()
{
	mv /mnt/a/own /mnt/a/moved
	mv /mnt/a/moved /mnt/a/own
}
tap_is "$(own_then_other rename_twice)" 2222 "after our renames"
tap_is "$(own_then_other truncate -s 3 /mnt/a/own)" 2222 "after our truncate"

# A writer by mmap whose file is closed long before.
mmap_writer()
{
	python3 -c '
import mmap, os
fd = os.open("/mnt/a/map", os.O_RDWR)
m = mmap.mmap(fd, 4)
os.close(fd)
m[0:4] = b"mmap"
m.close()
open("/srv/data/map", "r+").write("file")
print(open("/mnt/a/map").read())
'
}
printf 1234 >/mnt/a/map
tap_is "$(mmap_writer)" file "a change by others after our mapping is gone"

# Writes of this client do not invalidate its cache; whole pages are appended.
head -c 204800 /dev/urandom >/tmp/random
cp /tmp/random /mnt/a/big
requests cmp /tmp/random /mnt/a/big
tap_is "$(asked READ_)" 0 "what was written here is read from the cache"
requests sh -c "cat /tmp/random >>/mnt/a/big; cmp -n 204800 /tmp/random /mnt/a/big"
tap_is "$(asked READ_)" 0 "even if more is appended"
requests sh -c "chmod 640 /mnt/a/big; mv /mnt/a/big /mnt/a/big2; cmp -n 204800 /tmp/random /mnt/a/big2"
tap_is "$(asked READ_)" 0 "or the file gets other rights and another name"
requests sh -c "printf x | dd of=/mnt/b/big2 conv=notrunc 2>/dev/null; quiet=\$(md5sum </mnt/a/big2)"
tap_run "a single byte by another client is noticed" [ "$(asked READ_)" -gt 0 ]
tap_is "$(head -c 1 /mnt/a/big2)" x "and read"

# Nor do they cause revalidation while the file is open.
cat >/tmp/beside.py <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/mnt/a/big2", os.O_RDWR)
os.pread(fd, 200000, 0)
for i in range(20):
    os.pwrite(fd, b"y" * 4096, 8192 * i)
    if libc.sync_file_range(fd, ctypes.c_longlong(0), ctypes.c_longlong(0), 7):
        raise OSError(ctypes.get_errno(), "sync_file_range")
    os.pread(fd, 4096, 4096)
END
requests python3 /tmp/beside.py
tap_run "reads beside writes ask for no attributes ($(asked GETATTR) times, $(asked WRITE) writes)" \
	[ "$(asked GETATTR)" -le 5 ]
tap_is "$(asked READ_)" 0 "nor for data"

# A client that writes all the time cannot tell changes of others from its own. It drops
# the cache when the file is opened, and after acregmax.
mount_dafs data /mnt/c acregmin=1,acregmax=3,clientid=busy
head -c 16384 /dev/zero | tr '\0' o >/mnt/c/busy
cat >/tmp/busy.py <<'END'
import ctypes, os, time
libc = ctypes.CDLL(None)
fd = os.open("/mnt/c/busy", os.O_RDWR)
os.pread(fd, 16384, 0)
while not os.path.exists("/tmp/idle"):
    os.pwrite(fd, b"y" * 4096, 0)
    libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 7)
    open("/tmp/busy", "w").close()
END
cat >/tmp/plain.py <<'END'
import os, sys, time
fd = os.open("/mnt/c/busy", os.O_RDONLY)
os.pread(fd, 16384, 0)
open("/tmp/plain", "w").close()
end = time.monotonic() + 60
while time.monotonic() < end:
    time.sleep(0.3)
    if os.pread(fd, 5, 12288) == b"later":
        print("later")
        break
END
python3 /tmp/busy.py &
busy=$!
until [ -e /tmp/busy ] || ! kill -0 $busy; do sleep 0.1; done
printf other | dd of=/mnt/b/busy bs=8192 seek=1 conv=notrunc 2>/dev/null
tap_is "$(dd if=/mnt/c/busy bs=8192 skip=1 2>/dev/null | head -c 5)" other \
	"an open by who writes all the time sees what another client closed"
python3 /tmp/plain.py >/tmp/plain.said &
plain=$!
until [ -e /tmp/plain ] || ! kill -0 $plain; do sleep 0.1; done
printf later | dd of=/mnt/b/busy bs=4096 seek=3 conv=notrunc 2>/dev/null
wait $plain
tap_is "$(cat /tmp/plain.said)" later "and so does a read, in time"
touch /tmp/idle
wait $busy
umount /mnt/c
tap_is "$(tr -s 'a-z' </srv/data/busy)" yotherolatero "and both have what both have written"

# An open waits for another open that drops the cache: the server is frozen, so
# dirty data cannot be written before it thaws.
cat >/tmp/dirty.py <<'END'
import os, sys, time
fd = os.open("/mnt/a/zapped", os.O_RDWR)
os.pread(fd, 8192, 0)
os.pwrite(fd, b"ours", 4096)
open("/tmp/dirty", "w").close()
while not os.path.exists("/tmp/clean"):
    time.sleep(0.1)
END
head -c 8192 /dev/zero | tr '\0' o >/mnt/a/zapped
python3 /tmp/dirty.py &
dirty=$!
until [ -e /tmp/dirty ] || ! kill -0 $dirty; do sleep 0.1; done
printf new | dd of=/srv/data/zapped conv=notrunc 2>/dev/null
fsfreeze -f /srv/data
echo >$tracing/trace
echo 1 >$tracing/events/dafs/dafs_request/enable
head -c 3 /mnt/a/zapped >/tmp/first &
first=$!
for _ in $(seq 600); do
	grep -q WRITE_ $tracing/trace && break
	sleep 0.1
done
echo 0 >$tracing/events/dafs/dafs_request/enable
head -c 3 /mnt/a/zapped >/tmp/second &
second=$!
sleep 2
early=$(cat /tmp/second)
fsfreeze -u /srv/data
wait $first $second
touch /tmp/clean
wait $dirty
tap_is "$early $(cat /tmp/first) $(cat /tmp/second)" " new new" \
	"an open waits while another one drops what is cached"
tap_is "$(dd if=/srv/data/zapped bs=4096 skip=1 2>/dev/null | head -c 4)" ours \
	"and nothing that was written here is lost"

# Names need no request while the directory does not change.
echo there >/mnt/a/one/there
quiet_cat /mnt/a/one/there
stat /mnt/a/one/missing 2>/dev/null
requests sh -c "stat /mnt/a/one/missing /mnt/a/one/there" >/dev/null 2>&1
tap_is "$(asked .)" 0 "names that are there and names that are not are cached"
touch /mnt/a/one/new
requests sh -c "stat /mnt/a/one/missing /mnt/a/one/there" >/dev/null 2>&1
tap_is "$(asked LOOKUP)" 0 "a file made here does not make them doubtful"
umount /mnt/a /mnt/b

# For how long is a mount option.
mount_dafs data /mnt/a actimeo=1
stat /mnt/a/late >/dev/null 2>&1
stat /mnt/a/f >/dev/null
touch /srv/data/late
chmod 751 /srv/data/f
sleep 2
tap_run "a name made elsewhere is seen in time" stat /mnt/a/late
tap_is "$(stat -c %a /mnt/a/f)" 751 "and so are attributes"
mv /srv/data/late /srv/data/f
sleep 2
tap_is "$(stat -c %s /mnt/a/f)" 0 "and a name that leads elsewhere"
tap_fails "and one that is gone" stat /mnt/a/late
umount /mnt/a
mount_dafs data /mnt/a acregmin=1,acregmax=1,acdirmin=600,acdirmax=600
ls -l /mnt/a >/dev/null
stat /mnt/a/late2 >/dev/null 2>&1
echo x >/srv/data/late2
chmod 700 /srv/data/f
sleep 2
tap_is "$(stat -c %a /mnt/a/f)" 700 "files and directories have times of their own"
tap_fails "so a name is not missed yet" stat /mnt/a/late2
umount /mnt/a

# Access rights at the server may change without a change of attributes.
mount_dafs data /mnt/a actimeo=1
test -w /mnt/a/f
mount -o remount,ro /srv/data
sleep 2
tap_fails "rights are asked for again in time" test -w /mnt/a/f
mount -o remount,rw /srv/data
umount /mnt/a
mount_dafs data /mnt/a noac
stat /mnt/a/soon >/dev/null 2>&1
touch /srv/data/soon
tap_run "noac sees a name at once" stat /mnt/a/soon
chmod 700 /srv/data/soon
tap_is "$(stat -c %a /mnt/a/soon)" 700 "and attributes"
umount /mnt/a
for cached in none positive; do
	mount_dafs data /mnt/a actimeo=600,lookupcache=$cached
	stat /mnt/a/new-$cached >/dev/null 2>&1
	touch /srv/data/new-$cached
	tap_run "lookupcache=$cached asks again for what was not there" \
		stat /mnt/a/new-$cached
	tap_run "and is in /proc/mounts" grep -q lookupcache=$cached /proc/mounts
	requests stat /mnt/a/new-$cached >/dev/null
	tap_line "# $(asked LOOKUP) LOOKUP for a name that is known"
	[ $cached = none ] && lookups=1 || lookups=0
	tap_is "$(asked LOOKUP)" $lookups "what is there is asked for again or not"
	umount /mnt/a
done
mount_dafs data /mnt/a actimeo=600,nocto
echo aaaa >/mnt/a/f
quiet_cat /mnt/a/f
echo bbbb >/srv/data/f
requests cat /mnt/a/f >/tmp/nocto
tap_is "$(asked GETATTR)" 0 "nocto opens without asking"
tap_is "$(cat /tmp/nocto)" aaaa "and reads what it has"
tap_run "nocto is in /proc/mounts" grep -q nocto /proc/mounts
umount /mnt/a

# cache= sets several of these options.
# cache_asks MODE: the requests of a second open and read, and of a stat.
cache_asks()
{
	mount_dafs data /mnt/a "actimeo=600,cache=$1"
	quiet_cat /mnt/a/f
	requests cat /mnt/a/f >/dev/null
	printf '%s ' "$([ "$(asked GETATTR)" -gt 0 ] && echo open)"
	requests stat /mnt/a/f >/dev/null
	printf '%s' "$([ "$(asked GETATTR)" -gt 0 ] && echo stat)"
	umount /mnt/a
}
tap_is "$(cache_asks none)" "open stat" "cache=none asks all the time"
tap_is "$(cache_asks strict)" "open " "cache=strict at an open"
tap_is "$(cache_asks loose)" " " "cache=loose not at all"
mount_dafs data /mnt/a cache=none
exec 5>/mnt/a/synchronous
echo data >&5
tap_is "$(cat /srv/data/synchronous)" data "cache=none writes synchronously"
exec 5>&-
umount /mnt/a

# The lifetime of attributes doubles from acregmin to acregmax. That they are
# not requested earlier does not depend on the speed of the machine.
cat >/tmp/doubling.py <<'END'
import os, sys, time
least, most = (int(arg) for arg in sys.argv[1:])
def getattrs():
    ours = False
    for line in open("/proc/self/mountstats"):
        word = line.split()
        if word and word[0] == "device":
            ours = word[4] == "/mnt/a"
        elif ours and word and word[0] == "GETATTR_INLINE:":
            return int(word[1])
    return 0
fd = os.open("/mnt/a/f", os.O_RDONLY)
def next_asked():
    """Between which times one that asks was sent."""
    before = getattrs()
    while True:
        began = time.monotonic()
        mode = os.fstat(fd).st_mode & 0o777
        if getattrs() != before:
            return began, time.monotonic(), mode
        time.sleep(0.05)
# after a change it is cached for acregmin
os.chmod("/srv/data/f", 0o640)
mode = 0
while mode != 0o640:
    began, _, mode = next_asked()
trusted = least
while trusted < 8:
    next_began, ended, _ = next_asked()
    # minus one tick, because the client counts in ticks
    if ended - began < trusted - 0.02:
        print(f"asked after {ended - began:.2f} instead of {trusted} seconds")
    began = next_began
    if trusted == most:
        break
    trusted = min(2 * trusted, most)
time.sleep(most + 0.1)
before = getattrs()
os.fstat(fd)
if getattrs() == before:
    print(f"still trusted after {most} seconds")
END
mount_dafs data /mnt/a acregmin=1,acregmax=4
tap_silent "attributes are trusted for 1, 2, 4 seconds, and not longer" \
	python3 /tmp/doubling.py 1 4
umount /mnt/a

# Round trips for each of 20 files, as tar and cp make them.
make_files()
{
	python3 -c '
import os, sys
flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if sys.argv[2] != "touch" else 0)
for i in range(20):
    fd = os.open("%s/f%d" % (sys.argv[1], i), flags, 0o600)
    if sys.argv[2] != "touch":
        os.write(fd, b"x" * 700)
    os.utime(fd, (1000000000, 1000000000 + i))
    if sys.argv[2] == "tar":
        os.fchmod(fd, 0o644)
    os.close(fd)
' "$1" "$2"
}
mount_dafs data /mnt/a actimeo=600
for how in tar cp touch; do
	mkdir /mnt/a/many-$how
	ls /mnt/a/many-$how
	requests make_files /mnt/a/many-$how $how
	tap_line "# 20 files as $how makes them: $(summary)"
	# O_EXCL takes two: an EXCLUSIVE OPEN, which may be retried, does not set the mode.
	case $how in
	tar) most=7 ;;
	cp) most=6 ;;
	touch) most=3 ;;
	esac
	# And ACCESS of the directory, once.
	tap_run "a file as $how makes it takes $most requests" \
		[ "$(asked .)" -le $((20 * most + 1)) ]
done
tap_is "$(stat -c '%s %a %Y' /mnt/a/many-tar/f7)" "700 644 1000000007" \
	"attributes are right although nobody asked"
tap_is "$(stat -c %i /mnt/a/many-touch/f7)" "$(stat -c %i /srv/data/many-touch/f7)" \
	"and so is the number of a file"
tap_is "$(ls -i /mnt/a/many-touch | sort)" "$(ls -i /srv/data/many-touch | sort)" \
	"which listing shows, too"
tap_is "$(cat /srv/data/many-tar/f7 | wc -c)" 700 "what was written is on the server"

# O_CREAT with existing names of all types.
open_create()
{
	python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
print(os.read(fd, 100).decode(), end="")
' "$1"
}
mkdir /srv/data/taken
for i in 1 2 3; do
	echo "old $i" >/srv/data/taken/f$i
done
ln -s f1 /srv/data/taken/link
ln -s f4 /srv/data/taken/dangling
mkdir /srv/data/taken/dir
requests open_create /mnt/a/taken/f2 >/tmp/taken
tap_is "$(cat /tmp/taken)" "old 2" "O_CREAT opens what is there"
requests open_create /mnt/a/taken/f3 >/tmp/taken
tap_is "$(cat /tmp/taken) $(asked OPEN)" "old 3 1" "the next one in one attempt"
tap_is "$(open_create /mnt/a/taken/link)" "old 1" "through a link"
tap_run "through a link to nothing" open_create /mnt/a/taken/dangling
tap_run "makes what it leads to" [ -f /srv/data/taken/f4 ]
tap_fails "not a directory" open_create /mnt/a/taken/dir
tap_run "and what is not there" open_create /mnt/a/taken/f5

# A negative dentry, and another client that creates the name meanwhile: the caller gets
# EEXIST, and then sees the name.
taken_meanwhile()
{
	! [ -e "$1" ] && mkdir "/srv/data/taken/${1##*/}" || return
	shift
	"$@" 2>&1 | grep -q "File exists"
}
tap_run "mkdir: the name is taken" taken_meanwhile /mnt/a/taken/m mkdir /mnt/a/taken/m
tap_run "and is there" [ -d /mnt/a/taken/m ]
tap_run "symlink: the name is taken" taken_meanwhile /mnt/a/taken/s ln -sT f1 /mnt/a/taken/s
tap_run "and is there" [ -d /mnt/a/taken/s ]
tap_run "mknod: the name is taken" taken_meanwhile /mnt/a/taken/p mkfifo /mnt/a/taken/p
tap_run "and is there" [ -d /mnt/a/taken/p ]
tap_run "open: the name is taken" taken_meanwhile /mnt/a/taken/o python3 -c \
	'import os; os.open("/mnt/a/taken/o", os.O_RDWR | os.O_CREAT | os.O_EXCL)'
tap_run "and is there" [ -d /mnt/a/taken/o ]
tap_run "what others made is listed" sh -c "[ \$(ls /mnt/a/taken | grep -cx '[mspo]') = 4 ]"
umount /mnt/a

# A listing includes the attributes of its names, if they are going to be used.
ids()
{
	stat -c '%n %i %s %a %u %g %h %Y' -- * | sort
}
list_and_stat()
{
	cd /mnt/a/listed && ls >/dev/null && ids >/tmp/listed
	cd / || return
}
list()
{
	ls /mnt/a/listed
}
mkdir /srv/data/listed
for i in $(seq 150); do
	echo "$i" >"/srv/data/listed/file $i"
done
chown 1000:2000 "/srv/data/listed/file 7"
chmod 4751 "/srv/data/listed/file 8"
ln "/srv/data/listed/file 9" /srv/data/listed/link
ln -s nowhere /srv/data/listed/symlink
mkdir /srv/data/listed/dir
mknod /srv/data/listed/null c 1 3
(cd /srv/data/listed && ids) >/tmp/backing
mount_dafs data /mnt/a actimeo=600
requests list_and_stat
tap_line "# list and look at 154 names: $(summary)"
tap_run "who lists a directory knows what is in it" cmp /tmp/listed /tmp/backing
tap_run "by the listing alone" [ "$(asked LOOKUP)" -le 1 -a "$(asked GETATTR)" -le 4 ]

# A program that reads few names at a time gets them without another request,
# also the end; but after rewinding it gets the current names.
cat >/tmp/pieces.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
buf = ctypes.create_string_buffer(1024)
def some():
    size = libc.getdents64(fd, buf, len(buf))
    assert size >= 0
    data, names = buf.raw[:size], []
    while data:
        length = int.from_bytes(data[16:18], sys.byteorder)
        names.append(data[19:length].split(b"\0")[0].decode())
        data = data[length:]
    return names
def rest():
    names = []
    while piece := some():
        names += piece
    return names
fd = os.open("/mnt/a/listed", os.O_RDONLY | os.O_DIRECTORY)
if sys.argv[1] == "all":
    names = rest()
    print(len(names), len(set(names)))
elif sys.argv[1] == "mode":
    os.stat("/mnt/a/listed/file 1")	# uses the names
    taken = some() + some() + some()	# the rest comes from the old listing
    ours, theirs = [name for name in os.listdir("/srv/data/listed")
                    if name.startswith("file") and name not in taken][:2]
    os.chmod(f"/mnt/a/listed/{ours}", 0o604)
    os.stat(f"/mnt/a/listed/{ours}")
    with open(f"/srv/data/listed/{theirs}", "w") as file:
        file.write("longer than it was")
    os.close(os.open(f"/mnt/a/listed/{theirs}", os.O_RDONLY))
    rest()
    print(f"{os.stat(f'/mnt/a/listed/{ours}').st_mode:o}",
          os.stat(f"/mnt/a/listed/{theirs}").st_size)
else:
    names = rest()
    os.lseek(fd, 0, os.SEEK_SET)
    again = some() + some()	# the rest comes from the listing
    victim = next(name for name in names if name not in again)
    os.rename(f"/mnt/a/listed/{victim}", "/mnt/a/away")
    more = rest()
    os.rename("/mnt/a/away", f"/mnt/a/listed/{victim}")
    print(len(again + more), victim in more)
END
requests python3 /tmp/pieces.py all >/tmp/pieces
tap_is "$(cat /tmp/pieces), $(asked READDIR)" "156 156, 2" \
	"names are sent once, however few are taken at a time"
tap_is "$(python3 /tmp/pieces.py mode)" "100604 18" \
	"what was sent before a change does not undo it"
tap_is "$(python3 /tmp/pieces.py change)" "155 False" "but what is removed meanwhile is not among them"

list_twice()
{
	ls >/dev/null
	echo 2 >/proc/sys/vm/drop_caches
	ls >/dev/null
	ids >/dev/null
}
cd /mnt/a/listed || exit
requests list_twice
cd / || exit
rm "/srv/data/listed/file 20"
tap_fails "what others have removed cannot be" rm "/mnt/a/listed/file 20"
tap_fails "and is not there any more" stat "/mnt/a/listed/file 20"
touch "/srv/data/listed/file 20"
tap_run "whose names nobody used is listed by names alone" [ "$(asked LOOKUP)" -ge 8 ]
echo longer >>"/srv/data/listed/file 3"
rm "/srv/data/listed/file 4"
mv "/srv/data/listed/file 5" "/srv/data/listed/file 4"
umount /mnt/a
mount_dafs data /mnt/a actimeo=1
list >/dev/null
sleep 2
echo 17 >"/srv/data/listed/file 17"
mv "/srv/data/listed/file 6" "/srv/data/listed/file 5"
sleep 2
list_and_stat
(cd /srv/data/listed && ids) >/tmp/backing
tap_run "changes by others come with the next listing" cmp /tmp/listed /tmp/backing
python3 -c '
import os
fd = os.open("/mnt/a/listed/file 11", os.O_WRONLY | os.O_APPEND)
os.write(fd, b"more and more")
names = [e.name for e in os.scandir("/mnt/a/listed")]
assert len(names) == 153, len(names)
print(os.stat("/mnt/a/listed/file 11").st_size, os.fstat(fd).st_size)
' >/tmp/own
tap_is "$(cat /tmp/own)" "16 16" "a listing does not undo what is being written here"
umount /mnt/a
mount_dafs data /mnt/a noac
requests list_and_stat
tap_run "noac asks for each name" [ "$(asked LOOKUP)" -ge 100 ]
umount /mnt/a
tap_done
