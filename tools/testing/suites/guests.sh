# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Two machines: data between them, shared files, and each and the link lost under load.
# bed: host
# timeout: 900
# needs: guest qemu
# processors: all
#
# guests:slow_commit ... runs those of its tests.

exec python3 -B "$BED/../guests/guests.py" "$@"
