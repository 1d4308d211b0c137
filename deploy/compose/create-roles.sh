#!/bin/sh
# Creates the roles of the owner and of the service, and the database, when the cluster is initialized. Passwords come
# from the environment and go to psql by standard input, so that neither a command line nor the server's log contains
# them.
set -eu
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv owner_password CUPO_OWNER_PASSWORD
\getenv service_password CUPO_SERVICE_PASSWORD
\getenv backup_password CUPO_BACKUP_PASSWORD
SET log_statement = 'none';
SET log_min_duration_statement = -1;
CREATE ROLE cupo_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE cupo LOGIN PASSWORD :'service_password';
CREATE ROLE cupo_backup LOGIN BYPASSRLS PASSWORD :'backup_password' IN ROLE pg_read_all_data;
CREATE DATABASE cupo OWNER cupo_owner ENCODING 'UTF8' TEMPLATE template0;
SQL
