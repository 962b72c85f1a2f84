# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Load, export, mount, write, read, unmount, unload.
# bed: um
# timeout: 120

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 256
echo "from the server" >/srv/data/old

tap_run "the modules load" load_modules /srv/data:no_root_squash
tap_run "mount" mount_dafs data /mnt/dafs || tap_bail "no mount"
tap_is "$(cat /mnt/dafs/old)" "from the server" "read what the server wrote"
echo "from the client" >/mnt/dafs/new
tap_is "$(cat /srv/data/new)" "from the client" "the server sees a write"
tap_run "mkdir" mkdir /mnt/dafs/dir
tap_run "rename" mv /mnt/dafs/new /mnt/dafs/dir/renamed
tap_is "$(ls /mnt/dafs/dir)" renamed "readdir"
tap_run "unlink" rm /mnt/dafs/dir/renamed
tap_run "rmdir" rmdir /mnt/dafs/dir
dd if=/dev/urandom of=/tmp/random bs=1M count=4 2>/dev/null
tap_run "copy 4 MiB in" cp /tmp/random /mnt/dafs/random
tap_run "copy 4 MiB back" cmp /tmp/random /mnt/dafs/random
tap_run "unmount" umount /mnt/dafs
tap_run "the server has the same 4 MiB" cmp /tmp/random /srv/data/random
tap_run "the modules unload" unload_modules
tap_run "the export's file system is free" umount /srv/data
tap_done
