import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGatehouse } from '../gatehouse.mjs';
import { CPU_OF, freePort, startProgram } from '../processes.mjs';

const NGINX = '/usr/sbin/nginx';
const LISTENING_WITHIN_MS = 10_000;

/** True if replicas have CPUs of their own; otherwise they share those of one server. */
export const HAS_CPUS = availableParallelism() > 4;

/**
 * Replicas with a Redis of their own, behind nginx that takes them in turn.
 *
 * @param {{count: number, firstEnv: Record<string, string>, env?: (url: string) => Record<string, string>}} how
 *   `firstEnv` are variables of the first alone; `env` gets the address of nginx
 */
export async function startReplicas(context, { count, firstEnv, env = () => ({}) }) {
  const redis = await startRedis(context);
  const port = await freePort();
  const replicas = [];
  for (let index = 0; index < count; index += 1) {
    replicas.push(
      await startGatehouse(context, {
        env: {
          ...env(`http://127.0.0.1:${port}`),
          ...(index === 0 && firstEnv),
          REDIS_URL: redis.url,
        },
        isPinned: !HAS_CPUS,
      }),
    );
  }
  const nginx = await startNginx(
    context,
    port,
    replicas.map((replica) => replica.port),
  );
  const all = [nginx, ...replicas, redis];
  return { nginx, replicas, redis, stop: () => Promise.all(all.map((one) => one.stop())) };
}

async function startRedis({ directory }) {
  const port = await freePort();
  const options = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: directory };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const redis = startProgram({
    command: ['redis-server', ...given],
    cpu: CPU_OF.database,
    directory,
  });
  await untilListening(port, redis);
  return { ...redis, url: `redis://127.0.0.1:${port}` };
}

async function startNginx({ directory }, port, ports) {
  const home = join(directory, `nginx-${port}`);
  mkdirSync(home);
  const file = join(home, 'nginx.conf');
  writeFileSync(file, configuration(home, port, ports));
  const nginx = startProgram({
    command: [NGINX, '-p', home, '-c', file, '-e', join(home, 'error.log')],
    cpu: CPU_OF.load,
    directory,
  });
  await untilListening(port, nginx);
  return { ...nginx, port, url: `http://127.0.0.1:${port}` };
}

/** Configures one process of the current user, with its folders in `home`. */
function configuration(home, port, ports) {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
master_process off;
pid ${home}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  # By default nginx closes a connection after 1,000 requests, and the load generator counts a failure.
  keepalive_requests 1000000000;
  ${folders.map((folder) => `${folder}_temp_path ${home}/${folder};`).join('\n  ')}
  map $http_upgrade $connection_header { default upgrade; '' ''; }
  upstream gatehouse {
    ${ports.map((one) => `server 127.0.0.1:${one};`).join('\n    ')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://gatehouse;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_header;
      proxy_read_timeout 120s;
    }
  }
}
`;
}

async function untilListening(port, started) {
  const deadline = Date.now() + LISTENING_WITHIN_MS;
  while (!(await isListening(port))) {
    if (started.child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`A program does not listen:\n${started.log()}`);
    }
    await sleep(20);
  }
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
