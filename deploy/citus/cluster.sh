#!/bin/sh
# Builds Citus on Debian, and starts a cluster for tests on one machine: a coordinator and two workers. The cluster listens on
# loopback only, trusts all connections and does not sync to disk. Not for production. Run as root:
#
#   deploy/citus/cluster.sh build SOURCES          # builds and installs Citus from its sources; installs missing packages of Debian
#   deploy/citus/cluster.sh start FOLDER [PORT]    # the coordinator listens on PORT (7500 unless given), workers on the next two
#   deploy/citus/cluster.sh stop FOLDER
#
# start prints the setting for tests: TEST_CITUS_URL=… npm run test:citus
set -eu

VERSION=${PG_VERSION:-15}
BIN=/usr/lib/postgresql/$VERSION/bin
NODES="coordinator worker-1 worker-2"

PACKAGES="build-essential flex libkrb5-dev liblz4-dev libpq-dev libssl-dev libzstd-dev
  postgresql-$VERSION postgresql-server-dev-$VERSION"

# Builds in a copy whose files all have the same age, so that make does not want autoconf. Late minor versions of PostgreSQL 15 have
# a function have_createdb_privilege of their own, so that of Citus gets another name.
build() {
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  cp -R "$1/." "$copy"
  find "$copy" -exec touch --no-dereference --reference="$0" {} +
  missing=$(for each in $PACKAGES; do is_installed "$each" || echo "$each"; done)
  [ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
  cd "$copy"
  [ "$VERSION" -gt 15 ] || sed -i 's/have_createdb_privilege/citus_&/' \
    src/include/pg_version_compat.h src/backend/distributed/commands/serialize_distributed_ddls.c
  ./configure --without-libcurl PG_CONFIG="$BIN/pg_config"
  make --jobs="$(nproc)" with_llvm=no
  make with_llvm=no install
}

is_installed() {
  dpkg-query --show --showformat='${Status}' "$1" 2>/dev/null | grep --quiet 'install ok installed'
}

start() {
  folder=$1
  port=${2:-7500}
  mkdir -p "$folder"
  chown postgres "$folder"
  next=$port
  for node in $NODES; do
    if [ ! -d "$folder/$node" ]; then
      as_postgres "$BIN/initdb" --pgdata="$folder/$node" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
      settings "$next" "$folder" >>"$folder/$node/postgresql.conf"
    fi
    as_postgres "$BIN/pg_ctl" --pgdata="$folder/$node" status >/dev/null ||
      as_postgres "$BIN/pg_ctl" --pgdata="$folder/$node" --log="$folder/$node.log" --wait start >/dev/null
    next=$((next + 1))
  done
  register "$port"
  echo "TEST_CITUS_URL=postgres://postgres@127.0.0.1:$port/postgres"
}

# Citus forwards a test's roles to the workers, which only the coordinator's database postgres knows.
register() {
  for each in "$1" $(($1 + 1)) $(($1 + 2)); do
    query "$each" "CREATE EXTENSION IF NOT EXISTS citus"
  done
  query "$1" "SELECT citus_set_coordinator_host('127.0.0.1', $1)"
  for worker in $(($1 + 1)) $(($1 + 2)); do
    query "$1" "SELECT citus_add_node('127.0.0.1', $worker)"
  done
}

settings() {
  cat <<SETTINGS
port = $1
listen_addresses = '127.0.0.1'
unix_socket_directories = '$2'
shared_preload_libraries = 'citus'
max_connections = 300
max_prepared_transactions = 300
max_worker_processes = 200
fsync = off
citus.node_conninfo = 'sslmode=prefer'
SETTINGS
}

stop() {
  for node in $NODES; do
    as_postgres "$BIN/pg_ctl" --pgdata="$1/$node" --mode=fast stop
  done
}

query() {
  "$BIN/psql" -X -q -o /dev/null -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U postgres postgres -c "$2"
}

as_postgres() {
  runuser -u postgres -- "$@"
}

command=${1:-}
[ $# -gt 1 ] && shift || command=
case $command in
  build | start | stop) "$command" "$@" ;;
  *) sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
