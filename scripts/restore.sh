#!/bin/sh
# Makes a database of what backup.sh dumped: ADMIN_DATABASE_URL=postgres://… scripts/restore.sh FOLDER DATABASE
# The URL is a superuser's, of any database of the server. Roles that are there already stay as they are; a database that is there
# is left alone. What fails is taken away again.
set -eu
folder=${1:?"usage: restore.sh FOLDER DATABASE"}
database=${2:?"usage: restore.sh FOLDER DATABASE"}
url=${ADMIN_DATABASE_URL:?"ADMIN_DATABASE_URL is missing"}
run() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=database="$database" --dbname="$url" "$@"; }

# Each role on its own: those that are there already are not made again, and keep what they have.
run --tuples-only --no-align --command='SELECT rolname FROM pg_roles' | sort > "$folder.roles.$$"
trap 'rm -f "$folder.roles.$$"' EXIT
grep -E '^(CREATE|ALTER) ROLE ' "$folder/roles.sql" | while IFS= read -r statement; do
  role=$(printf '%s\n' "$statement" | sed -E 's/^(CREATE|ALTER) ROLE "?([^ ";]*)"?.*/\2/')
  grep --quiet --line-regexp --fixed-strings -- "$role" "$folder.roles.$$" || printf '%s\n' "$statement"
done | run

echo 'CREATE DATABASE :"database" TEMPLATE template0 ENCODING '"'UTF8'" | run
target=$(printf '%s' "$url" | sed -E "s#^(postgres(ql)?://[^/?]*)(/[^?]*)?#\1/$database#")
pg_restore --dbname="$target" --exit-on-error --single-transaction "$folder/database.dump" || {
  echo 'DROP DATABASE :"database"' | run
  exit 1
}
run --dbname="$target" --command='ANALYZE'
