#!/bin/sh
# Dumps a database and its roles into a new folder: BACKUP_DATABASE_URL=postgres://… scripts/backup.sh FOLDER
#
# The role needs pg_read_all_data and BYPASSRLS. The PostgreSQL programs must have at least the server's version. Fails
# if the folder exists. An incomplete dump never has the folder's name.
set -eu
folder=${1:?"usage: backup.sh FOLDER"}
url=${BACKUP_DATABASE_URL:?"BACKUP_DATABASE_URL is missing"}
[ ! -e "$folder" ] || { echo "$folder exists already" >&2; exit 1; }
umask 077
aside="$folder.incomplete.$$"
trap 'rm -rf "$aside"' EXIT
mkdir "$aside"
pg_dumpall --dbname="$url" --roles-only --no-role-passwords > "$aside/roles.sql"
pg_dump --dbname="$url" --format=custom --no-password --file="$aside/database.dump"
pg_restore --list "$aside/database.dump" > "$aside/contents.txt"
mv "$aside" "$folder"
echo "$folder: $(du -sk "$folder" | cut -f1) KiB"
