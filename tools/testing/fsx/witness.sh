#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# witness.sh FILE LOCK COPY FIRST LAST: prints which of these differ from COPY in bytes
# FIRST..LAST: FILE in memory, in place on the disk, and on a copy of the disk as after a
# crash; and the blocks.  LOCK prevents faults meanwhile.  If none differs, the reader was
# wrong.

file=$1 copy=$3 first=$4 count=$(($5 - $4 + 1))
exec 9>"$2"
flock -w 120 9
disk=$(findmnt -n -o SOURCE -T "$file")
top=$(findmnt -n -o TARGET -T "$file")
place=/tmp/witness.place after=/tmp/witness.after image=/tmp/witness.image

# part FILE
part()
{
	tail -c "+$((first + 1))" "$1" | head -c $count
}

# say WHO FILE
say()
{
	part "$copy" >/tmp/witness.right
	part "$2" >/tmp/witness.part
	echo "# $1: $(cmp -l /tmp/witness.right /tmp/witness.part 2>&1 | grep -c .) differ," \
		"of $(stat -c %s "$2") in all"
	cmp -l /tmp/witness.right /tmp/witness.part 2>/dev/null |
		awk -v "first=$first" '$1 != last + 1 && !($1 - last < 16 && last) {
			if (last) printf "..%#x", last + first - 1
			printf " %#x", $1 + first - 1
		} { last = $1 } END { if (last) printf "..%#x\n", last + first - 1 }'
}

echo "# $file on $disk, mounted with $(findmnt -n -o OPTIONS -T "$file")"
say "in memory" "$file"
dd if="$disk" of=$image bs=1M iflag=direct 2>/dev/null
debugfs -R "dump /${file#"$top"/} $place" $image >/dev/null 2>&1
say "in place" $place
e2fsck -f -y $image >/dev/null 2>&1
debugfs -R "dump /${file#"$top"/} $after" $image >/dev/null 2>&1
say "after a crash" $after
debugfs -R "ex /${file#"$top"/}" $image 2>/dev/null
rm -f $place $after $image /tmp/witness.right /tmp/witness.part
