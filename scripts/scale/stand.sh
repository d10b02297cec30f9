#!/usr/bin/env bash
# A replicated PostgreSQL on loopback for drills (docs/scaling.md): three nodes under Patroni, with etcd and synchronous replication. HAProxy leads to
# the primary and to the replicas, PgBouncer in transaction mode to the primary. Not for production: no passwords, one etcd.
#
#   scripts/scale/stand.sh install               the packages of Debian that are missing, by apt-get (as root, or with sudo)
#   scripts/scale/stand.sh missing               names the missing packages; exit code 0 = none
#   scripts/scale/stand.sh start FOLDER          makes and starts everything; what runs already goes on, data of an earlier start is used
#   scripts/scale/stand.sh status FOLDER         members, processes, addresses; exit code 0 = one primary and two streaming replicas
#   scripts/scale/stand.sh kill-primary FOLDER   SIGKILL of the primary's server; Patroni lives
#   scripts/scale/stand.sh kill-node FOLDER      SIGKILL of the primary's Patroni and of all its PostgreSQL processes
#   scripts/scale/stand.sh switchover FOLDER     a planned change of the primary
#   scripts/scale/stand.sh pause-primary FOLDER SECONDS   SIGSTOP of all PostgreSQL processes of the primary, later SIGCONT
#   scripts/scale/stand.sh lose-primary FOLDER SECONDS    the replicas receive nothing for so long, then the primary's node is killed: with
#                                                STAND_SYNCHRONOUS=false what was written meanwhile is lost
#   scripts/scale/stand.sh revive FOLDER         starts what a fault has ended
#   scripts/scale/stand.sh stop FOLDER           ends everything that `start` has started; the data stays until the folder is deleted
#
# Environment of the first start: STAND_PORT (the first of 24 ports; default: a free range from 12400), STAND_DCS (etcd; etcd3 with Patroni before
# 3.1 lets a primary that was stopped for longer than STAND_TTL go on unasked, and acknowledged writes are lost), STAND_STRICT (false; true: no
# write without a replica), STAND_SYNCHRONOUS (true; false: a write does not wait for a replica), STAND_TTL (20 s), STAND_LOOP (2 s), STAND_CHECK (1s, interval of HAProxy).
#
# PostgreSQL does not run as root: started by root, all processes run as the user postgres of the package; else as the user who starts them.
set -euo pipefail
# Where servers are installed; a user's own PATH need not have it.
export PATH="$PATH:/usr/sbin"

readonly PACKAGES=(postgresql patroni python3-etcd etcd-server pgbouncer haproxy curl procps)
readonly HOST=127.0.0.1
readonly NODES=(1 2 3)

fail() {
  echo "stand: $*" >&2
  exit 1
}

usage() {
  sed -n 's/^#   //p' "$0"
  exit 2
}

# --- packages

missing_packages() {
  local package
  for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The newest server that is installed.
server_programs() { find /usr/lib/postgresql -path '*/bin/initdb' -printf '%h\n' | sort -V | tail -n 1; }

# --- ports: primary, replica, pooler, etcd, etcd's peer; from 10 on the nodes, from 20 on their Patroni

use_ports() {
  PRIMARY_PORT=$1
  REPLICA_PORT=$(($1 + 1))
  POOLER_PORT=$(($1 + 2))
  ETCD_PORT=$(($1 + 3))
  PEER_PORT=$(($1 + 4))
  NODE_PORT=$(($1 + 10))
  PATRONI_PORT=$(($1 + 20))
}

is_range_free() {
  local port
  for port in $(seq "$1" $(($1 + 23))); do
    if (exec 3<>"/dev/tcp/$HOST/$port") 2>/dev/null; then return 1; fi
  done
}

choose_ports() {
  local first
  if [ -n "${STAND_PORT:-}" ]; then
    echo "$STAND_PORT"
    return
  fi
  for first in $(seq 12400 30 14900); do
    if is_range_free "$first"; then
      echo "$first"
      return
    fi
  done
  fail 'no free range of ports'
}

# --- processes: each has a file with its id in the folder

as_owner() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

# Starts a process in a session of its own, so that Ctrl+C in the terminal of a drill does not end it.
spawn() {
  local name=$1
  shift
  if [ "$(id -u)" = 0 ]; then
    setsid setpriv --reuid=postgres --regid=postgres --init-groups "$@" >>"$FOLDER/$name.log" 2>&1 </dev/null &
  else
    setsid "$@" >>"$FOLDER/$name.log" 2>&1 </dev/null &
  fi
  echo $! >"$FOLDER/$name.pid"
}

# Whether the process of the file still is ours: an id may have been given to another process, whose command does not name our folder.
is_alive() { [ -f "$FOLDER/$1.pid" ] && grep -zqF -- "$FOLDER" "/proc/$(cat "$FOLDER/$1.pid")/cmdline" 2>/dev/null; }

signal_if_alive() { if is_alive "$2"; then kill "-$1" "$(cat "$FOLDER/$2.pid")" 2>/dev/null || true; fi; }

spawn_patroni() { spawn "patroni$1" env PATH="$(server_programs):$PATH" patroni "$FOLDER/node$1.yml"; }

# The server of a node and its children. Nothing when it does not run.
server_processes() {
  local server
  [ -f "$FOLDER/node$1/postmaster.pid" ] || return 0
  server=$(head -n 1 "$FOLDER/node$1/postmaster.pid")
  grep -zqF -- "$FOLDER" "/proc/$server/cmdline" 2>/dev/null || return 0
  echo "$server"
  ps -o pid= --ppid "$server" || true
}

leader() {
  local node
  for node in "${NODES[@]}"; do
    if curl -sf -m 1 -o /dev/null "http://$HOST:$((PATRONI_PORT + node))/primary"; then
      echo "$node"
      return
    fi
  done
  return 1
}

require_leader() { leader || fail 'there is no primary'; }

# --- configuration

is_synchronous() {
  if [ -f "$FOLDER/node1.yml" ]; then grep -q 'synchronous_mode: true' "$FOLDER/node1.yml"; else [ "${STAND_SYNCHRONOUS:-true}" = true ]; fi
}

write_node() {
  cat >"$FOLDER/node$1.yml" <<YML
scope: stand
name: node$1
restapi: {listen: '$HOST:$((PATRONI_PORT + $1))', connect_address: '$HOST:$((PATRONI_PORT + $1))'}
${STAND_DCS:-etcd}: {host: '$HOST:$ETCD_PORT'}
bootstrap:
  dcs:
    ttl: ${STAND_TTL:-20}
    loop_wait: ${STAND_LOOP:-2}
    retry_timeout: 5
    maximum_lag_on_failover: $(is_synchronous && echo 1048576 || echo 1073741824)
    # A primary that crashed hands over at once, by both names of the setting; with synchronous replication that loses nothing.
    primary_start_timeout: 0
    master_start_timeout: 0
    synchronous_mode: ${STAND_SYNCHRONOUS:-true}
    synchronous_mode_strict: ${STAND_STRICT:-false}
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 120
        shared_buffers: 192MB
        wal_level: replica
        hot_standby: 'on'
        wal_log_hints: 'on'
        max_wal_senders: 8
        max_replication_slots: 8
        wal_keep_size: 256MB
        wal_receiver_status_interval: 1s
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        tcp_keepalives_idle: 10
        tcp_keepalives_interval: 5
        tcp_keepalives_count: 3
        unix_socket_directories: '$FOLDER'
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, {auth: trust}]
postgresql:
  listen: $HOST:$((NODE_PORT + $1))
  connect_address: $HOST:$((NODE_PORT + $1))
  data_dir: $FOLDER/node$1
  pgpass: $FOLDER/pgpass$1
  authentication: {superuser: {username: postgres}, replication: {username: replicator}, rewind: {username: postgres}}
  pg_hba: ['local all all trust', 'host all all $HOST/32 trust', 'host replication replicator $HOST/32 trust']
YML
}

balanced_nodes() {
  local node
  for node in "${NODES[@]}"; do echo "  server node$node $HOST:$((NODE_PORT + node)) check port $((PATRONI_PORT + node))"; done
}

# No retries: they go to the node that died for as long as its Patroni has not noticed, and hold a client for seconds that would connect anew.
write_balancer() {
  cat >"$FOLDER/haproxy.cfg" <<CFG
global
  maxconn 1000
defaults
  mode tcp
  option tcpka
  retries 0
  timeout connect 2s
  timeout client 24h
  timeout server 24h
  timeout check 2s
  timeout queue 5s
  default-server inter ${STAND_CHECK:-1s} fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
listen primary
  bind $HOST:$PRIMARY_PORT
  option httpchk OPTIONS /primary
  http-check expect status 200
$(balanced_nodes)
listen replica
  bind $HOST:$REPLICA_PORT
  balance roundrobin
  option httpchk OPTIONS /replica
  http-check expect status 200
$(balanced_nodes)
CFG
}

# Nothing is ignored (`ignore_startup_parameters`): a client that sends parameters of a session is refused.
write_pooler() {
  cat >"$FOLDER/pgbouncer.ini" <<INI
[databases]
* = host=$HOST port=$PRIMARY_PORT user=postgres
[pgbouncer]
listen_addr = $HOST
listen_port = $POOLER_PORT
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 300
server_login_retry = 1
query_wait_timeout = 20
admin_users = postgres
INI
}

# --- commands

start() {
  local node missing
  missing=$(missing_packages | tr '\n' ' ')
  [ -z "$missing" ] || fail "not installed: $missing(see the command install)"
  if [ ! -f "$FOLDER/port" ]; then
    choose_ports >"$FOLDER/port"
    use_ports "$(cat "$FOLDER/port")"
    for node in "${NODES[@]}"; do write_node "$node"; done
    write_balancer
    write_pooler
    if [ "$(id -u)" = 0 ]; then
      chown postgres:postgres "$FOLDER"
      chmod 755 "$FOLDER"
    fi
  fi
  start_processes
  for _ in $(seq 300); do
    if status >/dev/null 2>&1; then break; fi
    sleep 0.2
  done
  status
}

start_processes() {
  local node etcd="http://$HOST:$ETCD_PORT" peer="http://$HOST:$PEER_PORT"
  is_alive etcd || spawn etcd etcd --enable-v2=true --name stand --data-dir "$FOLDER/etcd" --listen-client-urls "$etcd" \
    --advertise-client-urls "$etcd" --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "stand=$peer"
  for _ in $(seq 100); do
    if curl -sf -m 1 -o /dev/null "$etcd/health"; then break; fi
    sleep 0.1
  done
  # The first node alone, so that it is the one that makes the cluster.
  if [ ! -d "$FOLDER/node1" ]; then
    spawn_patroni 1
    for _ in $(seq 300); do
      if leader >/dev/null; then break; fi
      sleep 0.2
    done
  fi
  for node in "${NODES[@]}"; do is_alive "patroni$node" || spawn_patroni "$node"; done
  is_alive haproxy || spawn haproxy haproxy -db -f "$FOLDER/haproxy.cfg"
  is_alive pgbouncer || spawn pgbouncer pgbouncer "$FOLDER/pgbouncer.ini"
}

status() {
  local name node replicas code=0
  patronictl -c "$FOLDER/node1.yml" list 2>/dev/null || true
  for name in etcd patroni1 patroni2 patroni3 haproxy pgbouncer; do
    if is_alive "$name"; then
      echo "$name pid $(cat "$FOLDER/$name.pid")"
    else
      echo "$name does not run"
      code=1
    fi
  done
  echo "primary  postgresql://postgres@$HOST:$PRIMARY_PORT/postgres"
  echo "replicas postgresql://postgres@$HOST:$REPLICA_PORT/postgres"
  echo "pooler   postgresql://postgres@$HOST:$POOLER_PORT/postgres"
  for node in "${NODES[@]}"; do echo "node$node    postgresql://postgres@$HOST:$((NODE_PORT + node))/postgres"; done
  replicas=$(PGCONNECT_TIMEOUT=2 "$(server_programs)/psql" -X -At -h "$HOST" -p "$PRIMARY_PORT" -U postgres -d postgres -c \
    "SELECT count(*) FILTER (WHERE state = 'streaming'), count(*) FILTER (WHERE sync_state = 'sync') FROM pg_stat_replication" 2>/dev/null) || replicas='none'
  echo "streaming|synchronous: $replicas"
  [ "$replicas" = "$(is_synchronous && echo '2|1' || echo '2|0')" ] || code=1
  return $code
}

switchover() {
  local from
  from="node$(require_leader)"
  # The option has two names, by the version of Patroni.
  patronictl -c "$FOLDER/node1.yml" switchover --force --primary "$from" stand 2>&1 ||
    patronictl -c "$FOLDER/node1.yml" switchover --force --master "$from" stand 2>&1
}

kill_primary() {
  local node
  node=$(require_leader)
  kill -9 "$(server_processes "$node" | head -n 1)"
  echo "node$node killed"
}

kill_node() {
  local node processes
  node=$(require_leader)
  mapfile -t processes < <(server_processes "$node")
  kill -9 "$(cat "$FOLDER/patroni$node.pid")" ${processes[@]} 2>/dev/null || true
  echo "node$node and its Patroni killed"
}

on_node() {
  local node=$1
  shift
  "$(server_programs)/psql" -X -q -h "$HOST" -p $((NODE_PORT + node)) -U postgres -d postgres "$@"
}

# Patroni would correct the address of the primary, so it is stopped meanwhile.
lose_primary() {
  local primary node replicas=()
  primary=$(require_leader)
  for node in "${NODES[@]}"; do [ "$node" = "$primary" ] || replicas+=("$node"); done
  for node in "${replicas[@]}"; do
    signal_if_alive STOP "patroni$node"
    on_node "$node" -c "ALTER SYSTEM SET primary_conninfo = 'host=$HOST port=1'" -c 'SELECT pg_reload_conf()' >/dev/null
  done
  sleep "$1"
  kill_node
  for node in "${replicas[@]}"; do
    on_node "$node" -c 'ALTER SYSTEM RESET primary_conninfo' -c 'SELECT pg_reload_conf()' >/dev/null
    signal_if_alive CONT "patroni$node"
  done
}

pause_primary() {
  local node processes
  node=$(require_leader)
  mapfile -t processes < <(server_processes "$node")
  kill -STOP ${processes[@]} 2>/dev/null || true
  sleep "$1"
  kill -CONT ${processes[@]} 2>/dev/null || true
  echo "node$node stopped for $1 s"
}

stop() {
  local node name processes
  for node in "${NODES[@]}"; do
    mapfile -t processes < <(server_processes "$node")
    [ ${#processes[@]} -eq 0 ] || kill -CONT ${processes[@]} 2>/dev/null || true
    signal_if_alive CONT "patroni$node"
    signal_if_alive TERM "patroni$node"
  done
  for _ in $(seq 150); do
    is_alive patroni1 || is_alive patroni2 || is_alive patroni3 || break
    sleep 0.2
  done
  for node in "${NODES[@]}"; do
    signal_if_alive KILL "patroni$node"
    if [ -n "$(server_processes "$node")" ]; then
      as_owner "$(server_programs)/pg_ctl" -D "$FOLDER/node$node" -m immediate -w stop >/dev/null 2>&1 || true
    fi
  done
  for name in pgbouncer haproxy etcd; do signal_if_alive TERM "$name"; done
  for _ in $(seq 50); do
    is_alive pgbouncer || is_alive haproxy || is_alive etcd || break
    sleep 0.1
  done
  for name in pgbouncer haproxy etcd; do signal_if_alive KILL "$name"; done
  rm -f "$FOLDER"/*.pid
}

case "${1:-}" in
  install)
    install_packages
    exit
    ;;
  missing)
    missing_packages
    [ -z "$(missing_packages)" ]
    exit
    ;;
esac

[ $# -ge 2 ] || usage
mkdir -p "$2"
FOLDER=$(cd "$2" && pwd)
if [ -f "$FOLDER/port" ]; then
  use_ports "$(cat "$FOLDER/port")"
elif [ "$1" = stop ]; then
  exit 0
elif [ "$1" != start ]; then
  fail "no stand was started in $FOLDER"
fi

case "$1" in
  start) start ;;
  status) status ;;
  stop) stop ;;
  switchover) switchover ;;
  kill-primary) kill_primary ;;
  kill-node) kill_node ;;
  pause-primary) pause_primary "${3:?seconds}" ;;
  lose-primary) lose_primary "${3:?seconds}" ;;
  revive) start_processes ;;
  *) usage ;;
esac
