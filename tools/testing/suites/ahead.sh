# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Listing ahead: directories are listed in the background when names are looked up.
# bed: um
# timeout: 360

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"
# shellcheck source=tools/testing/bed/requests.sh
. "$BED/requests.sh"

setup_rxe
make_backing /srv/data 64
load_modules /srv/data:no_root_squash

# ids: inode numbers of all names in the current folder.
ids()
{
	stat -c '%n %i %s %a %u %g %h %Y' -- * | sort
}

# ask DIRECTORY COUNT: looks up all of its names, one by one, slowly enough for the
# listing.
ask()
{
	python3 -c '
import os, sys, time

def listings():
    with open("/proc/self/mountstats", encoding="ascii") as stats:
        return sum(int(line.split()[1]) for line in stats
                   if line.strip().startswith("READDIR_DIRECT:"))

before = listings()
for n in range(int(sys.argv[2])):
    os.stat(f"{sys.argv[1]}/name {n}")
    deadline = time.monotonic() + 20
    while n == 40 and listings() == before and time.monotonic() < deadline:
        time.sleep(0.01)
' "$@"
}
look_at()
{
	(cd "$1" && ids)
}
mkdir /srv/data/ahead
for i in $(seq 0 299); do
	echo "$i" >"/srv/data/ahead/name $i"
done
look_at /srv/data/ahead >/tmp/backing
mount_dafs data /mnt/a actimeo=600
requests ask /mnt/a/ahead 300
tap_line "# 300 names of a directory: $(summary)"
tap_run "names are listed before all are asked for" [ "$(asked READDIR_DIRECT)" -ge 1 ]
tap_run "and need not be looked up then" [ "$(asked LOOKUP)" -le 250 ]
look_at /mnt/a/ahead >/tmp/ahead
tap_run "what is known of them is right" cmp /tmp/ahead /tmp/backing
requests stat /mnt/a/ahead/none 2>/dev/null
tap_is "$(asked LOOKUP)" 1 "a name that is not there is asked for"
umount /mnt/a

# Expired attributes are fetched one by one, or by a listing, which is extended
# while its names are used.
make_names()
{
	mkdir "/srv/data/$1"
	(cd "/srv/data/$1" && seq -f "name %g" 0 "$(($2 - 1))" | xargs -d "\n" touch)
}
ask_again()
{
	for turn in 1 2; do
		sleep 21
		requests ask /mnt/a/old 1100
		tap_line "# 1100 names again: $(summary)"
		[ "$(asked READDIR_DIRECT)" -ge 1 ] && [ "$(asked GETATTR)" -le 850 ] &&
			[ "$(asked LOOKUP)" = 0 ] || return
	done
}
make_names old 1100
mount_dafs data /mnt/a actimeo=20
look_at /mnt/a/old >/dev/null
for i in $(seq 0 10 1099); do
	echo "$i" >"/srv/data/old/name $i"
done
look_at /srv/data/old >/tmp/backing
tap_run "names are listed before all are asked for again" ask_again
look_at /mnt/a/old >/tmp/old
tap_run "and what is known of them is new" cmp /tmp/old /tmp/backing
umount /mnt/a

# After a change of the directory by another client all names are looked up again.
ask_changed()
{
	for turn in 1 2; do
		touch "/srv/data/old/new $turn"
		python3 -c 'import os; os.open("/mnt/a/old", os.O_RDONLY)'
		requests ask /mnt/a/old 1100
		tap_line "# 1100 names of a changed directory: $(summary)"
		[ "$(asked READDIR_DIRECT)" -ge 1 ] && [ "$(asked LOOKUP)" -le 850 ] || return
	done
	requests ask /mnt/a/old 40
	tap_is "$(asked .)" 0 "and are not asked for twice"
}
mount_dafs data /mnt/a actimeo=600
look_at /mnt/a/old >/dev/null
tap_run "names are listed before all are looked up again" ask_changed
umount /mnt/a

# There is no listing if attributes are not cached.
mount_dafs data /mnt/a acregmin=0
look_at /mnt/a/ahead >/dev/null
requests ask /mnt/a/ahead 300
tap_is "$(asked READDIR)" 0 "what is not trusted is not listed ahead"
umount /mnt/a

# Names changed by this client are looked up, too.
ask_own()
{
	for i in $(seq 60); do
		: >"/mnt/a/own/$i"
		stat "/mnt/a/own/$i" >/dev/null
	done
}
mkdir /srv/data/own
mount_dafs data /mnt/a actimeo=600
requests ask_own
tap_is "$(asked GETATTR_INLINE) $(asked READDIR)" "61 0" \
	"that is no reason to list a directory"
umount /mnt/a
ask_some()
{
	stat $(seq -f "/mnt/a/closed/%g" 60) >/dev/null
}
mkdir /srv/data/closed
for i in $(seq 60); do
	echo "$i" >"/srv/data/closed/$i"
done
for option in lookupcache=none noac; do
	mount_dafs data /mnt/a actimeo=600,$option
	requests ask_some
	tap_is "$? $(asked READDIR)" "0 0" "with $option nothing is listed ahead"
	umount /mnt/a
done

# Without permission to list, known names can still be looked up.
ask_as_other()
{
	setpriv --reuid=1000 --regid=1000 --clear-groups \
		stat $(seq -f "/mnt/a/closed/%g" 60) >/dev/null
}
chmod 711 /srv/data/closed
mount_dafs data /mnt/a actimeo=600
requests ask_as_other
tap_is "$? $(asked LOOKUP)" "0 61" "a directory that may not be listed is not"

# A running listing does not bring back names that are removed meanwhile.
cat >/tmp/removed.py <<-"EOF"
	import os, pathlib, threading

	mount = pathlib.Path("/mnt/a/ahead")

	def look(word):
	    for n in range(300):
	        try:
	            os.stat(mount / f"{word} {n}")
	        except FileNotFoundError:
	            pass

	for old, new in [("name", "moved"), ("moved", "name")] * 2:
	    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2", encoding="ascii")
	    looker = threading.Thread(target=look, args=[old])
	    looker.start()
	    for n in range(299, -1, -1):
	        os.rename(mount / f"{old} {n}", mount / f"{new} {n}")
	    looker.join()
	    there = [n for n in range(300) if (mount / f"{old} {n}").exists()]
	    assert not there, there
	    for n in range(0, 300, 7):
	        os.unlink(mount / f"{new} {n}")
	        assert not (mount / f"{new} {n}").exists(), n
	        (mount / f"{new} {n}").touch()
EOF
tap_run "what goes while it is listed stays away" python3 /tmp/removed.py
umount /mnt/a
ask_and_leave()
{
	for i in $(seq 10); do
		mount_dafs data /mnt/a && ask_some && umount /mnt/a || return
	done
}
tap_run "an unmount does not mind a listing under way" ask_and_leave

# A few names of a huge directory: after a while only used entries are listed.
# Listed entries are dropped before they are used.
cat >/tmp/few.py <<-"EOF"
	import os, pathlib, random

	backing, mount = pathlib.Path("/srv/data/huge"), pathlib.Path("/mnt/a/huge")

	def listings():
	    with open("/proc/self/mountstats", encoding="ascii") as stats:
	        return sum(int(line.split()[1]) for line in stats
	                   if line.strip().startswith("READDIR_DIRECT:"))

	def ask(count):
	    before = listings()
	    for n in range(count):
	        if n % 20 == 0:
	            pathlib.Path("/proc/sys/vm/drop_caches").write_text("2", encoding="ascii")
	        os.stat(mount / f"{names.pop()}")
	    return listings() - before

	names = list(range(4000))
	random.shuffle(names)
	backing.mkdir()
	for name in names:
	    (backing / f"{name}").touch()
	directory = os.open(mount, os.O_RDONLY)
	for turn in range(10):
	    if ask(200) <= 2:
	        break
	else:
	    raise SystemExit("names are listed for ever")
EOF
mount_dafs data /mnt/a
tap_run "a few names out of very many are not worth a listing" python3 /tmp/few.py
umount /mnt/a

# With a single slot, no task may keep it while it waits for another one.
cat >/tmp/one.py <<-"EOF"
	import os, pathlib, threading

	closed = pathlib.Path("/mnt/a/closed")

	def look():
	    for n in range(40):
	        os.stat(closed / f"{n + 1}")

	for turn in range(10):
	    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2", encoding="ascii")
	    lookers = [threading.Thread(target=look) for n in range(3)]
	    for looker in lookers:
	        looker.start()
	    list(os.scandir(closed))
	    for looker in lookers:
	        looker.join()
EOF
mount_dafs data /mnt/a max_requests=1
tap_run "who lists waits for those who look up the same names" timeout 240 python3 /tmp/one.py
umount /mnt/a
tap_done
