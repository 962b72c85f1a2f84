# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Programs at work: git, make and gcc, a kernel module, SQLite, rsync, tar.
# bed: um
# timeout: 600
# needs: programs

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 600
make_backing /srv/fs 100
mkdir /srv/fs/part
load_modules /srv/data:no_root_squash,/srv/fs/part:no_root_squash
mount_dafs data /mnt/dafs && mount_dafs part /mnt/part || tap_bail "no mounts"
cd /mnt/dafs || exit

forget()
{
	echo 3 >/proc/sys/vm/drop_caches
}

# Makes a tree of everything that tar supports, at $1.
make_tree()
{
	mkdir "$1"
	cp -a /usr/include/linux/netfilter /usr/include/linux/usb "$1"
	mkdir -m 1777 "$1/sticky"
	mkdir -m 2755 "$1/set-gid"
	mkfifo -m 640 "$1/fifo"
	mknod -m 600 "$1/device" b 259 70000
	mknod -m 666 "$1/null" c 1 3
	ln -s ../nowhere "$1/dangling"
	ln -s usb "$1/link"
	cp /bin/true "$1/set-uid"
	chown 1000:2000 "$1/set-uid" "$1/sticky"
	chmod 4751 "$1/set-uid"
	echo "grüße" >"$1/挨拶"
	: >"$1/empty"
	touch -d '1999-12-31 23:59:59.123456789' "$1/empty"
	dd if=/bin/sh of="$1/sparse" bs=4k seek=25000 count=3 2>/dev/null
	truncate -s 150M "$1/sparse"
}

git()
{
	command git -c user.name=dafs -c user.email=dafs@localhost \
		-c init.defaultBranch=main -c advice.detachedHead=false "$@"
}

use_git()
{
	git init -q repo && cp -r /usr/include/linux/netfilter repo &&
	git -C repo add -A && git -C repo commit -q -m first &&
	git -C repo checkout -q -b topic &&
	for i in 1 2 3; do
		echo "line $i" >>repo/netfilter/xt_mark.h
		git -C repo mv netfilter/xt_limit.h netfilter/moved.h 2>/dev/null
		git -C repo commit -q -a -m "change $i" || return
	done &&
	git -C repo checkout -q main && echo other >repo/other &&
	git -C repo add other && git -C repo commit -q -m other &&
	git -C repo merge -q -m merge topic &&
	[ "$(git -C repo rev-list --count HEAD)" = 6 ]
}

git_is_clean()
{
	forget
	git -C "$1" fsck --full --strict >/tmp/fsck 2>&1 || { cat /tmp/fsck; return 1; }
	! grep -v '^dangling' /tmp/fsck &&
		git -C "$1" status --porcelain >/tmp/status && [ ! -s /tmp/status ]
}

tap_run "git: commits, renames, a merge" use_git
tap_run "git: fsck and status" git_is_clean repo
tap_run "git: clone" git clone -q repo clone
tap_run "git: fsck of the clone" git_is_clean clone
tap_run "git: gc" git -C repo gc -q --aggressive --prune=now
tap_run "git: fsck after gc" git_is_clean repo
tap_run "git: pull from what gc has packed" git -C clone pull -q
tap_run "git: the same files" diff -r --exclude=.git repo clone

make_program()
{
	mkdir build
	for i in 1 2 3 4 5 6 7 8; do
		printf '#include "all.h"\nint part%d(void) { return %d; }\n' $i $i \
			>build/part$i.c
		echo "int part$i(void);" >>build/all.h
	done
	printf '%s\n' '#include "all.h"' '#include <stdio.h>' 'int main(void) {' \
		'printf("%d\n", part1() + part2() + part3() + part4() + part5()' \
		'+ part6() + part7() + part8()); return 0; }' >build/main.c
	cat >build/Makefile <<'END'
objects = $(patsubst %.c,%.o,$(wildcard *.c))
program: lib.a main.o; gcc -o $@ main.o lib.a
lib.a: $(filter-out main.o,$(objects)); rm -f $@ && ar rcs $@ $^
%.o: %.c all.h; gcc -c -o $@ $<
END
}

make_program
tap_run "make -j4" make -s -C build -j4
tap_is "$(build/program)" 36 "the program runs"
tap_run "make finds all up to date" make -q -C build
echo "int part8(void) { return 80; }" >build/part8.c
tap_is "$(make -C build -j4 | grep -c 'gcc -c')" 1 "make finds the one that is not"
tap_is "$(build/program)" 108 "the new program runs"

# A module for this kernel, loaded from where it was built. A kernel tree below
# a private folder of the guest cannot be used.
KDIR=$(cat "${DAFS_MODULES%/*}/kernel" 2>/dev/null)
make_kernel_module()
{
	mkdir module
	echo 'obj-m := built.o' >module/Makefile
	printf '%s\n' '#include <linux/module.h>' 'static int answer = 42;' \
		'module_param(answer, int, 0444);' 'MODULE_DESCRIPTION("test");' \
		'MODULE_LICENSE("GPL");' >module/built.c
	make -s -C "$KDIR" M="$PWD/module" ARCH=um modules
}

if [ -f "$KDIR/Makefile" ]; then
	tap_run "make of a kernel module" make_kernel_module
	forget
	tap_run "the module loads" insmod module/built.ko answer=43
	tap_is "$(cat /sys/module/built/parameters/answer)" 43 "and is the right one"
	rmmod built
else
	tap_skip "make of a kernel module" "no kernel tree to build against"
fi

sql()
{
	sqlite3 -batch -bail "$@"
}

# The second half of the rows, in separate transactions.
rows()
{
	echo "BEGIN;"
	seq 1 2000 | sed "s/.*/INSERT INTO t VALUES (&, hex(randomblob(50)), & * 7);/"
	echo "COMMIT;"
	seq 2001 2030 | sed "s/.*/INSERT INTO t VALUES (&, 'single', & * 7);/"
}

# Bytes written of a database and its journals: in rollback mode the file
# itself, which has to be undone
written()
{
	if [ $journal = wal ]; then
		stat -c %s "$1-wal" 2>/dev/null
	else
		md5sum <"$1"
	fi
}

for journal in delete wal; do
	db=$journal.db
	tap_run "SQLite, journal $journal: 2030 rows" sh -c \
		"sqlite3 -bail $db 'PRAGMA journal_mode=$journal; CREATE TABLE t (
			a INTEGER PRIMARY KEY, b TEXT, c INTEGER);
			CREATE INDEX i ON t (c);' >/dev/null"
	rows | sql $db
	sql $db "DELETE FROM t WHERE a % 3 = 0; UPDATE t SET c = c + 1; VACUUM;" >/dev/null
	forget
	tap_is "$(sql $db 'PRAGMA integrity_check; SELECT count(*), sum(c) FROM t;' |
		tr '\n' ' ')" "ok 1354|9626263 " "SQLite, journal $journal: integrity"
	# Killed between its first and its last write: the transaction is rolled back.
	before=$(written $db)
	(
		echo "PRAGMA cache_spill=1; PRAGMA cache_size=5; BEGIN; UPDATE t SET b = 'lost';"
		cd / && sleep 60	# does not block umount
	) | sqlite3 -batch $db >/dev/null 2>&1 &
	for _ in $(seq 300); do
		[ "$(written $db)" = "$before" ] || break
		sleep 0.1
	done
	tap_fails "SQLite, journal $journal: a transaction has begun to write" \
		[ "$(written $db)" = "$before" ]
	tap_run "SQLite, journal $journal: it is killed" kill -9 $!
	tap_is "$(sql $db 'PRAGMA integrity_check;
		SELECT count(*) FROM t WHERE b = "lost";' | tr '\n' ' ')" \
		"ok 0 " "SQLite, journal $journal: a killed transaction is undone"
done

make_tree /tmp/tree
rsync_same()
{
	rsync -aHSc --delete -n -i "$@" >/tmp/differ && ! grep . /tmp/differ
}

tap_run "rsync to the mount" rsync -aHS /tmp/tree/ rsynced/
forget
tap_run "rsync: the same checksums" rsync_same /tmp/tree/ rsynced/
tap_run "rsync from the mount" rsync -aHS rsynced/ /tmp/back/
tap_run "rsync: the same checksums there" rsync_same /tmp/tree/ /tmp/back/
echo changed >/tmp/tree/empty
rm /tmp/tree/link
tap_run "rsync of what has changed" rsync -aHS --inplace --delete /tmp/tree/ rsynced/
tap_run "rsync: the same once more" rsync_same /tmp/tree/ rsynced/

tap_run "tar from the mount" tar -cSf /tmp/tree.tar -C rsynced .
mkdir untarred
tap_run "tar to the mount" tar -xpSf /tmp/tree.tar -C untarred
forget
tap_silent "tar finds no difference" tar -dSf /tmp/tree.tar -C untarred
tap_run "nor does rsync" rsync_same /tmp/tree/ untarred/
tap_run "the sparse file is sparse" [ "$(stat -c %b /srv/data/untarred/sparse)" -lt 1000 ]
tap_run "all is removed" rm -r /mnt/dafs/rsynced /mnt/dafs/untarred

# In an export of a subdirectory, where hard links, which a clone uses, are two
# files to the client.
cd /mnt/part || exit
tap_run "git in a part of a file system" use_git
tap_run "git: clone, there" git clone -q repo clone
tap_run "git: fsck of the clone, there" git_is_clean clone
rm -r repo
tap_run "git: fsck of the clone without what it is of" git_is_clean clone

cd / || exit
umount /mnt/dafs /mnt/part
tap_run "fsck of the export" sh -c "modprobe -r dafsd; umount /srv/data && e2fsck -f -n /dev/ram0"
tap_done
