#!/bin/sh
# Cuts and restores the link between one replica and Redis, while the other keeps it. Needs root,
# ip (iproute2), redis-server and a built dist: sh bench/soak/link-cut.sh postgres://… (a fresh database
# that listens on every address). Nothing else on the machine is touched.
set -eu
DATABASE=${1:?give the address of an empty database, with the host 10.213.0.1}
SPACE=gatehouse-cut
WORK=$(mktemp -d)
export DATABASE_URL="$DATABASE" SERVICE_MASTER_SECRET="$(openssl rand -base64 48)"
export REDIS_URL=redis://10.213.0.3:6391 SERVICE_LOG_LEVEL=warn AUTH_ACCESS_CACHE_SECONDS=5

ip netns add "$SPACE"
ip link add gh-host type veth peer name gh-cut netns "$SPACE"
ip addr add 10.213.0.1/24 dev gh-host
ip addr add 10.213.0.3/24 dev gh-host
ip link set gh-host up
ip -n "$SPACE" addr add 10.213.0.2/24 dev gh-cut
ip -n "$SPACE" link set gh-cut up
ip -n "$SPACE" link set lo up

clean() {
  for file in "$WORK"/*.pid; do kill "$(cat "$file")" 2>/dev/null || true; done
  ip link del gh-host 2>/dev/null || true
  ip netns del "$SPACE" 2>/dev/null || true
  rm -rf "$WORK"
}
trap clean EXIT INT TERM

redis-server --bind 10.213.0.3 --port 6391 --save '' --protected-mode no --dir "$WORK" >/dev/null &
echo $! >"$WORK/redis.pid"
node dist/bin/gatehouse.js migrate >/dev/null
HOST=10.213.0.2 PORT=3991 ip netns exec "$SPACE" node dist/bin/server.js &
echo $! >"$WORK/cut.pid"
HOST=10.213.0.1 PORT=3992 node dist/bin/server.js &
echo $! >"$WORK/linked.pid"

node "$(dirname "$0")/link-cut.mjs" http://10.213.0.2:3991 http://10.213.0.1:3992 \
  "ip -n $SPACE route add blackhole 10.213.0.3/32" "ip -n $SPACE route del blackhole 10.213.0.3/32"
