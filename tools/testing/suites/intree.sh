# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# DAFS builds in a kernel's tree, built in; kunit.py runs the suites of the messages.
#
# intree:all also builds the client as a module, without the server, and then all as modules, KUnit
# suites among them, from the same Kbuild files as all test beds do outside of a tree.
# bed: host
# timeout: 1200
# needs: um
# may-skip: DAFS in a kernel's tree

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

# A mount namespace with overlays of the kernel's source and build trees: the same
# paths, so that only changed files are compiled, and writes do not change the
# originals.
if [ -z "${INTREE:-}" ]; then
	SOURCE=$("$BED/source") && KDIR=$("$BED/kernel" um) || exit
	CACHE=${DAFS_CACHE:-/var/cache/dafs}
	WORK=$(mktemp -d "$CACHE/in-tree.XXXXXX") || exit
	trap 'rm -rf "$WORK"' EXIT
	trap 'exit 1' HUP INT TERM
	export SOURCE KDIR WORK
	INTREE=1 unshare -m sh "$0" "$@"
	exit
fi

# overlay TREE: redirects writes below TREE to $WORK.
overlay()
{
	upper=$WORK/$(basename "$1")
	mkdir -p "$upper/upper" "$upper/work" &&
		mount -t overlay -o "lowerdir=$1,upperdir=$upper/upper,workdir=$upper/work" \
			in-tree "$1"
}

# The kernel's files that refer to our folders.
hooks()
{
	(cd "$SOURCE" && sha256sum fs/Kconfig fs/Makefile drivers/Makefile \
		Documentation/filesystems/index.rst)
}

kernel_make()
{
	nice make -C "$SOURCE" ARCH=um O="$KDIR" -j"$(nproc)" "$@"
}

# build NAME TARGETS OPTION...: complaints about our files of a build with these options.
build()
{
	log=$WORK/$1.log
	targets=$2
	shift 2
	printf 'CONFIG_%s\n' "$@" | sed 's/^\(.*\)=n$/# \1 is not set/' >"$WORK/options"
	cat "$WORK/options" >>"$KDIR/.config"
	kernel_make olddefconfig >"$log" 2>&1 || echo "olddefconfig fails"
	"$BED/wanted" "$KDIR/.config" "$WORK/options" 2>&1
	# shellcheck disable=SC2086 # a list
	kernel_make $targets >>"$log" 2>&1 || {
		echo "it does not build"
		tail -n 20 "$log"
	}
	grep -E 'dafs.*(warning|error)' "$log"
	true
}

# are_there MODULE...
are_there()
{
	for module; do
		tap_run "$module.ko is there" test -f "$KDIR/$module.ko"
	done
}

# kunit COMMAND OPTION...: the program that runs suites in a kernel's tree
kunit()
{
	(cd "$SOURCE" && nice python3 -B tools/testing/kunit/kunit.py "$@")
}

if ! overlay "$SOURCE" || ! overlay "$KDIR"; then
	tap_skip "DAFS in a kernel's tree" "no overlay mounts here"
	tap_done
	exit
fi
tap_run "the kernel's tree takes DAFS" "$REPO/tools/in-tree" "$SOURCE"
once=$(hooks)
tap_run "and takes it again" "$REPO/tools/in-tree" "$SOURCE"
tap_is "$(hooks)" "$once" "which adds no line twice"
tap_silent "built in" build builtin linux DAFS_FS=y DAFSD=y DAFS_KUNIT_TEST=n \
	DAFS_CODEC_KUNIT_TEST=y
tap_is "$(nm "$KDIR/vmlinux" | grep -cE ' t dafs(d)?_(init|exit)$')" 4 \
	"client and server are in the kernel"
# That kernel is there already; one of these options alone would be built from nothing.
tap_run "kunit.py runs the suites of the messages" kunit exec --build_dir "$KDIR" 'dafs_*'
tap_run "its options for them are complete" \
	kunit config --kunitconfig fs/dafs_common --build_dir "$WORK/kunit"
if [ "$*" = all ]; then
	tap_silent "as a module, without the server" build client "vmlinux modules" \
		DAFS_FS=m DAFSD=n DAFS_CODEC_KUNIT_TEST=m
	are_there fs/dafs/dafs fs/dafs_common/dafs_common fs/dafs_common/tests/dafs_common_kunit
	tap_is "$(nm "$KDIR/vmlinux" | grep -c ' dafs')" 0 "nothing of DAFS is in the kernel"
	tap_fails "there is no server" grep -q dafsd "$KDIR/modules.order"
	tap_silent "as modules, with KUnit suites" build modules modules \
		DAFS_FS=m DAFSD=m DAFS_KUNIT_TEST=m DAFS_CODEC_KUNIT_TEST=m
	are_there drivers/dafsd/dafsd fs/dafs/tests/dafs_kunit
fi
tap_is "$("$REPO/tools/in-tree" "$WORK" 2>&1)" \
	"in-tree: $WORK is no source tree of Linux" "a tree that is no kernel's is refused"
tap_done
