import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf, freePort, type Service, startService } from './service-process.js';
import { waitFor } from './wait.js';

const NGINX = '/usr/sbin/nginx';

/** Whether the machine has nginx; where it must (CI), its absence is an error. */
export function hasNginx(): boolean {
  if (existsSync(NGINX)) {
    return true;
  }
  if (process.env['CI'] === 'true') {
    throw new Error('These tests need nginx. On Debian: apt-get install nginx');
  }
  process.stderr.write('NOT RUN: tests behind nginx. On Debian: apt-get install nginx\n');
  return false;
}

/** An nginx that spreads requests and live connections over some ports of 127.0.0.1. */
export interface Balancer extends Service {
  /** Sends new requests to these ports once it resolves; what is under way goes on. */
  balance(ports: readonly number[]): Promise<void>;
}

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const file = join(home, 'nginx.conf');
  const port = await freePort();
  writeFileSync(file, configuration(home, port, ports));
  const service = await startService({
    file: NGINX,
    args: ['-p', home, '-c', file, '-e', join(home, 'error.log')],
    url: `http://127.0.0.1:${port}`,
    home,
    stopSignal: 'SIGTERM',
    probe: () => reach(port),
  });
  const balance = async (next: readonly number[]): Promise<void> => {
    const workers = childrenOf(service.pid);
    writeFileSync(file, configuration(home, port, next));
    await service.kill('SIGHUP');
    await waitFor('those with the former ports take no more', () =>
      workers.every((pid) => !isServing(pid)),
    );
  };
  return Object.assign(service, { balance });
}

function configuration(home: string, port: number, ports: readonly number[]): string {
  return `
daemon off;
worker_processes 1;
pid ${home}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n  ')}
  map $http_upgrade $connection_header { default upgrade; '' ''; }
  upstream gatehouse {
    ${ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n    ')}
    keepalive 32;
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

/** A worker that finishes what is under way says so in its title. */
function isServing(pid: number): boolean {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return title !== '' && !title.includes('shutting down');
  } catch {
    return false; // it ended
  }
}

function reach(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done();
    });
    socket.on('error', fail);
  });
}
