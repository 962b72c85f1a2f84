# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Functions for PostgreSQL: its programs, a server in $PGDATA, and whether pgbench's books are
# balanced.

PATH=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH
PGHOST=/tmp PGUSER=postgres PGDATABASE=postgres
export PATH PGHOST PGUSER PGDATABASE

as_postgres()
{
	setpriv --reuid=postgres --regid=postgres --init-groups "$@"
}

# postgres_make: a new database in $PGDATA; created in memory, which is faster than on a mount
postgres_make()
{
	as_postgres initdb -D /tmp/pg -k -N -A trust --no-locale -E UTF8 --wal-segsize=1 &&
		cp -a /tmp/pg "$PGDATA" && rm -r /tmp/pg
}

# postgres_start [OPTION...]: starts the server, which would open and sync each file after a crash
# without recovery_init_sync_method
postgres_start()
{
	[ -e /tmp/postgres.log ] || install -m 666 /dev/null /tmp/postgres.log
	as_postgres pg_ctl -w -t 120 -l /tmp/postgres.log start -o "-k /tmp -h '' \
		-c shared_buffers=8MB -c autovacuum=off -c max_connections=8 -c jit=off \
		-c recovery_init_sync_method=syncfs $*"
}

# postgres_balanced: prints t if the sums of all pgbench tables are equal
postgres_balanced()
{
	psql -Atc "SELECT count(*) > 0 AND
		sum(delta) = (SELECT sum(abalance) FROM pgbench_accounts) AND
		sum(delta) = (SELECT sum(bbalance) FROM pgbench_branches) AND
		sum(delta) = (SELECT sum(tbalance) FROM pgbench_tellers)
		FROM pgbench_history"
}

# postgres_history: prints how many transactions there are
postgres_history()
{
	psql -Atc "SELECT count(*) FROM pgbench_history"
}

# pgbench_told FILE: prints how many transactions pgbench has told of
pgbench_told()
{
	awk '/^number of transactions actually processed:/ { split($6, n, "/"); sum += n[1] }
	     END { print sum + 0 }' "$1"
}
