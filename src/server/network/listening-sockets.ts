import { once } from 'node:events';
import { createServer, Server, type AddressInfo, type ListenOptions } from 'node:net';
import type { ListenAddress } from './listen-host.js';
import { LISTEN_BACKLOG } from './backlog.js';

/** With the first socket 65,536 connections wait, where the backlog of each is 4,096. */
const FURTHER_SOCKETS = 15;
/** Node before 22.12 ignores the option. */
const SHARED = { reusePort: true };

const furtherOf = new WeakMap<Server, readonly Server[]>();

/**
 * Lets a server listen with several sockets (Linux, `SO_REUSEPORT`). The kernel drops connections that one socket has no
 * place for, and their clients wait up to a minute; Node accepts one of each socket in a turn of its event loop.
 *
 * @param listen makes the server listen
 * @throws ErrnoException `EADDRINUSE` and others of `listen`
 */
export async function listenWidely(
  server: Server,
  address: ListenAddress,
  listen: (options: ListenOptions) => Promise<unknown>,
): Promise<void> {
  const options = { ...address, backlog: LISTEN_BACKLOG };
  if (process.platform !== 'linux') {
    await listen(options);
    return;
  }
  await requireFree(address);
  await listen({ ...options, ...SHARED });
  const { address: host, port } = server.address() as AddressInfo;
  const further = await Promise.all(
    Array.from({ length: FURTHER_SOCKETS }, () =>
      listenFurther(server, { ...options, ...SHARED, host, port }),
    ),
  );
  const listening = further.filter((one) => one !== null);
  const most = Math.ceil(server.maxConnections / (1 + listening.length));
  for (const one of [server, ...listening]) {
    one.maxConnections = most;
  }
  furtherOf.set(server, listening);
}

/** Closes the sockets that listen, and no connection. */
export function stopListening(server: Server): void {
  // http.Server.close cuts idle connections at the same moment.
  Server.prototype.close.call(server);
  furtherOf.get(server)?.forEach((one) => one.close());
}

/** Two processes that share a port would each get some of its connections. */
async function requireFree(address: ListenAddress): Promise<void> {
  const server = createServer();
  await once(server.listen(address), 'listening');
  await new Promise((closed) => server.close(closed));
}

/** Returns null where the port cannot be shared, which is so before Node 22.12. */
async function listenFurther(server: Server, options: ListenOptions): Promise<Server | null> {
  const further = createServer({ allowHalfOpen: true, noDelay: true });
  try {
    await once(further.listen(options), 'listening');
  } catch {
    return null;
  }
  // Node documents both events for connections that a program brings itself.
  return further
    .on('connection', (socket) => server.emit('connection', socket))
    .on('error', (error) => server.emit('error', error));
}
