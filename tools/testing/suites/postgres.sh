# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# PostgreSQL on a mount: load, transactions, its crash, the server's restart, lost connections.
# bed: um
# timeout: 600
# needs: postgres
#
# postgres:SECONDS has connections lost for so long.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 600
load_modules /srv/data:no_root_squash
mount_dafs data /mnt/dafs nconnect=2 || tap_bail "no mount"
chmod 755 /mnt /mnt/dafs
PGDATA=/mnt/dafs/pg
export PGDATA
# shellcheck source=tools/testing/bed/postgres-lib.sh
. "$BED/postgres-lib.sh"
cd / || exit

tap_run "a new database" postgres_make || tap_bail "no database"
tap_run "start" postgres_start || tap_bail "no server: $(tail -n 5 /tmp/postgres.log)"
tap_run "load 100,000 rows" pgbench -q -i -s 1 -I dtGp
tap_run "transactions" pgbench -n -c 4 -T 4
tap_is "$(postgres_balanced)" t "the books are balanced"
history=$(postgres_history)
tap_run "crash" as_postgres pg_ctl -w -m immediate stop
echo 3 >/proc/sys/vm/drop_caches
tap_run "recovery" postgres_start
tap_is "$(postgres_history)" "$history" \
	"no transaction is lost"
tap_is "$(postgres_balanced)" t "the books are balanced after recovery"

pgbench -n -c 4 -T 8 &
bench=$!
sleep 3
tap_run "the file server goes under load" modprobe -r dafsd
modprobe dafsd exports=/srv/data:no_root_squash
tap_run "all transactions succeed" wait $bench
tap_is "$(postgres_balanced)" t "the books are balanced after its restart"
before=$(reconnects)
tap_run "connections are lost" lose_connections 40
history=$(postgres_history)
tap_run "all transactions succeed, meanwhile" sh -c "pgbench -n -c 4 -T ${1:-5} >/tmp/pgbench"
keep_connections
told=$(pgbench_told /tmp/pgbench)
tap_is "$(postgres_history)" "$((history + told))" \
	"the $told that it has told of are there, once"
tap_is "$(postgres_balanced)" t "the books are balanced after that"
tap_line "# $(($(reconnects) - before)) connections were lost"
tap_run "many connections were lost" [ $(($(reconnects) - before)) -ge 10 ]
tap_run "stop" as_postgres pg_ctl -w -m fast stop
tap_run "all page checksums are right" as_postgres pg_checksums --check
umount /mnt/dafs
tap_done
