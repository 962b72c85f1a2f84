# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The server acts as the caller: users, groups, root squash, read-only exports.
# bed: um
# timeout: 200

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 64
mkdir /srv/data/ro /srv/data/squash /srv/data/open /srv/data/all
chmod 777 /srv/data/squash /srv/data/open /srv/data/all
echo fixed >/srv/data/ro/file
EXPORTS=/srv/data/ro:ro:no_root_squash,/srv/data/squash,/srv/data/open:no_root_squash,\
/srv/data/all:all_squash
load_modules "$EXPORTS"
mount_dafs open /mnt/open
mount_dafs ro /mnt/ro
mount_dafs squash /mnt/squash
mount_dafs all /mnt/all

as()
{
	setpriv --reuid="$1" --regid="$2" --groups="$3" sh -c "$4"
}

owner()
{
	stat -c %u:%g "$1"
}

tap_run "a user makes a file" as 1000 1000 1000 "echo mine >/mnt/open/mine"
tap_is "$(owner /srv/data/open/mine)" 1000:1000 "it is that user's on the server"
chmod 600 /srv/data/open/mine
tap_run "the owner reads it" as 1000 1000 1000 "cat /mnt/open/mine"
tap_fails "another user does not" as 1001 1001 1001 "cat /mnt/open/mine"
chown 0:2000 /srv/data/open/mine
chmod 640 /srv/data/open/mine
tap_run "a supplementary group opens it" \
	as 1001 1001 1001,2000 "cat /mnt/open/mine"
many=$(seq -s , 3000 3030),2000
tap_run "as the last of 32 groups, too" as 1001 1001 "$many" "cat /mnt/open/mine"
tap_fails "a user does not chown" as 1001 1001 1001 "chown 1001 /mnt/open/mine"
tap_run "root does" chown 1001 /mnt/open/mine
tap_is "$(owner /srv/data/open/mine)" 1001:2000 "and it is so on the server"

touch /mnt/squash/by-root
tap_is "$(owner /srv/data/squash/by-root)" 65534:65534 "root is squashed to nobody"
tap_fails "squashed root does not chown" chown 0 /mnt/squash/by-root
tap_run "users are not squashed" as 1000 1000 1000 "touch /mnt/squash/by-user"
tap_is "$(owner /srv/data/squash/by-user)" 1000:1000 "they stay themselves"

# group_file DIR GROUP: makes a file that only this group may read
group_file()
{
	echo "of $2" >"/srv/data/$1/of$2"
	chown "1234:$2" "/srv/data/$1/of$2"
	chmod 040 "/srv/data/$1/of$2"
}
group_file squash 0
group_file squash 5
group_file all 5
as 1000 0 5 "touch /mnt/squash/by-group"
tap_is "$(owner /srv/data/squash/by-group)" 1000:65534 "nobody is in the group of root"
tap_fails "nor by a supplementary group" as 1000 1000 0 "cat /mnt/squash/of0"
tap_fails "nor by one of two" as 1000 1000 0,5 "cat /mnt/squash/of0"
tap_run "the other one counts" as 1000 1000 0,5 "cat /mnt/squash/of5"
as 1000 1000 1000 "touch /mnt/all/by-user"
tap_is "$(owner /srv/data/all/by-user)" 65534:65534 "all are squashed where that is wanted"
tap_fails "with their groups" as 1000 1000 5 "cat /mnt/all/of5"

tap_is "$(cat /mnt/ro/file)" fixed "a read-only export is read"
tap_fails "and not written" sh -c "echo x >/mnt/ro/file"
tap_fails "nor created in" touch /mnt/ro/new
tap_fails "nor removed from" rm -f /mnt/ro/file
tap_fails "nor renamed in" mv /mnt/ro/file /mnt/ro/other
tap_fails "nor are its attributes set" chmod 777 /mnt/ro/file
tap_is "$(cat /srv/data/ro/file)" fixed "and nothing happened to it"

# R-6.2.8-05: after a restart the server assigns new credential handles.
for user in 1000 1001; do
	as $user $user $user "touch /mnt/open/$user"
done
modprobe -r dafsd && modprobe dafsd exports="$EXPORTS"
for user in 1001 1000; do
	as $user $user $user "touch /mnt/open/$user.again"
	tap_is "$(owner /srv/data/open/$user.again)" $user:$user "after a restart a user is who he was"
done
umount /mnt/open /mnt/ro /mnt/squash /mnt/all
tap_done
