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
PATH=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH
PGDATA=/mnt/dafs/pg PGHOST=/tmp PGUSER=postgres PGDATABASE=postgres
export PGDATA PGHOST PGUSER PGDATABASE
cd / || exit

as_postgres()
{
	setpriv --reuid=postgres --regid=postgres --init-groups "$@"
}

# After a crash it would open and sync each file otherwise.
start()
{
	as_postgres pg_ctl -w -t 120 -l /tmp/postgres.log start -o "-k /tmp -h '' \
		-c shared_buffers=8MB -c autovacuum=off -c max_connections=8 -c jit=off \
		-c recovery_init_sync_method=syncfs"
}

# The sums of all pgbench tables are equal.
balanced()
{
	psql -Atc "SELECT count(*) > 0 AND
		sum(delta) = (SELECT sum(abalance) FROM pgbench_accounts) AND
		sum(delta) = (SELECT sum(bbalance) FROM pgbench_branches) AND
		sum(delta) = (SELECT sum(tbalance) FROM pgbench_tellers)
		FROM pgbench_history"
}

touch /tmp/postgres.log
chmod 666 /tmp/postgres.log
# Created in memory, which is faster than on the mount.
as_postgres initdb -D /tmp/pg -k -N -A trust --no-locale -E UTF8 --wal-segsize=1 ||
	tap_bail "no database"
tap_run "copy a new database" cp -a /tmp/pg $PGDATA
tap_run "start" start || tap_bail "no server: $(tail -n 5 /tmp/postgres.log)"
tap_run "load 100,000 rows" pgbench -q -i -s 1 -I dtGp
tap_run "transactions" pgbench -n -c 4 -T 4
tap_is "$(balanced)" t "the books are balanced"
history=$(psql -Atc "SELECT count(*) FROM pgbench_history")
tap_run "crash" as_postgres pg_ctl -w -m immediate stop
echo 3 >/proc/sys/vm/drop_caches
tap_run "recovery" start
tap_is "$(psql -Atc "SELECT count(*) FROM pgbench_history")" "$history" \
	"no transaction is lost"
tap_is "$(balanced)" t "the books are balanced after recovery"

pgbench -n -c 4 -T 8 &
bench=$!
sleep 3
tap_run "the file server goes under load" modprobe -r dafsd
modprobe dafsd exports=/srv/data:no_root_squash
tap_run "all transactions succeed" wait $bench
tap_is "$(balanced)" t "the books are balanced after its restart"
before=$(reconnects)
tap_run "connections are lost" lose_connections 40
history=$(psql -Atc "SELECT count(*) FROM pgbench_history")
tap_run "all transactions succeed, meanwhile" sh -c "pgbench -n -c 4 -T ${1:-5} >/tmp/pgbench"
keep_connections
told=$(sed -n 's/number of transactions actually processed: \([0-9]*\).*/\1/p' /tmp/pgbench)
tap_is "$(psql -Atc "SELECT count(*) FROM pgbench_history")" "$((history + told))" \
	"the $told that it has told of are there, once"
tap_is "$(balanced)" t "the books are balanced after that"
tap_line "# $(($(reconnects) - before)) connections were lost"
tap_run "many connections were lost" [ $(($(reconnects) - before)) -ge 10 ]
tap_run "stop" as_postgres pg_ctl -w -m fast stop
tap_run "all page checksums are right" as_postgres pg_checksums --check
umount /mnt/dafs
tap_done
