#!/bin/sh
# Creates Temporal's two databases and brings their schema up to date. Runs in temporalio/admin-tools before every start of
# the server; `npm run cluster` runs it too. The password is in SQL_PASSWORD.
set -eu

tool() {
  temporal-sql-tool --plugin postgres12 --endpoint "$POSTGRES_SEEDS" --port "${DB_PORT:-5432}" --user "$POSTGRES_USER" "$@"
}

for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  schema=${pair##*:}
  # Both fail where the database is there already; its data stays.
  tool --database "$database" create-database --defaultdb postgres >/dev/null 2>&1 || true
  tool --database "$database" setup-schema --version 0.0 >/dev/null 2>&1 || true
  tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
