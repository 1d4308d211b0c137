#!/bin/sh
# Creates a database from a dump of backup.sh: ADMIN_DATABASE_URL=postgres://… scripts/restore.sh FOLDER DATABASE
#
# The URL is a superuser's, of any database on the server. Existing roles do not change. Fails if the database exists.
# Drops the database again if it cannot be restored completely.
set -eu
folder=${1:?"usage: restore.sh FOLDER DATABASE"}
database=${2:?"usage: restore.sh FOLDER DATABASE"}
url=${ADMIN_DATABASE_URL:?"ADMIN_DATABASE_URL is missing"}
target=$(printf '%s' "$url" | sed -E "s#^(postgres(ql)?://[^/?]*)(/[^?]*)?#\1/$database#")
known=$(mktemp)
trap 'rm -f "$known"' EXIT
run() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=database="$database" --dbname="$url" "$@"; }

run --tuples-only --no-align --command='SELECT rolname FROM pg_roles' > "$known"
grep -E '^(CREATE ROLE|ALTER ROLE|GRANT) ' "$folder/roles.sql" | while IFS= read -r statement; do
  role=$(printf '%s\n' "$statement" | sed -E 's/^((CREATE|ALTER) ROLE|GRANT .* TO) "?([^ ";]*)"?.*/\3/')
  grep --quiet --line-regexp --fixed-strings -- "$role" "$known" || printf '%s\n' "$statement" | sed 's/ GRANTED BY .*;/;/'
done | run

echo "CREATE DATABASE :\"database\" TEMPLATE template0 ENCODING 'UTF8'" | run
pg_restore --dbname="$target" --exit-on-error --single-transaction "$folder/database.dump" || {
  echo 'DROP DATABASE :"database"' | run
  exit 1
}
run --dbname="$target" <<'SQL'
SELECT tableowner AS owner FROM pg_tables WHERE schemaname = 'public' AND tablename = 'schema_migrations' \gset
ALTER DATABASE :"database" OWNER TO :"owner";
ANALYZE;
SQL
