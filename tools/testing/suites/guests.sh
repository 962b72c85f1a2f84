# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Two machines: data, shared files, and the loss of either or of the link under load.
# bed: host
# timeout: 900
# needs: guest qemu postgres
# processors: all
#
# guests:slow_commit ... runs only these tests.

exec python3 -B "$BED/../guests/guests.py" "$@"
