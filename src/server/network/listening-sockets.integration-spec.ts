import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenWidely, stopListening } from './listening-sockets.js';

const HOST = '127.0.0.1';
/** Some of them, for each socket, even though the kernel spreads them by chance. */
const CLIENTS = 200;
/** Node from 22.12 on, and 23.1, listens with several sockets. */
const IS_WIDE = Number(process.versions.node.split('.')[0]) >= 24 && process.platform === 'linux';

describe(listenWidely.name, () => {
  const servers: Server[] = [];
  const agents: Agent[] = [];

  const listen = async (port = 0): Promise<Server> => {
    const server = createServer((_request, response) => response.end('served'));
    servers.push(server);
    server.maxConnections = 1600;
    await listenWidely(server, { port, host: HOST }, (options) =>
      once(server.listen(options), 'listening'),
    );
    return server;
  };

  const ask = async (server: { port: number }, agent: Agent): Promise<number> => {
    const [answer] = (await once(
      get({ host: HOST, port: server.port, agent }),
      'response',
    )) as IncomingMessage[];
    answer!.resume();
    await once(answer!, 'end');
    return answer!.statusCode ?? 0;
  };

  const keptAlive = (): Agent => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return agent;
  };

  afterEach(() => {
    agents.splice(0).forEach((agent) => agent.destroy());
    servers.splice(0).forEach(stopListening);
  });

  it('serves the connections of every socket, and shares the limit among them', async () => {
    const server = await listen();
    const { port } = server.address() as AddressInfo;
    const sockets = process.platform === 'linux' ? listeningAt(port) : 1;
    expect(IS_WIDE ? sockets : 16).toBe(16);
    expect(server.maxConnections).toBe(1600 / sockets);
    const statuses = await Promise.all(
      Array.from({ length: CLIENTS }, () => ask({ port }, keptAlive())),
    );
    expect(statuses).toEqual(Array.from({ length: CLIENTS }, () => 200));
  });

  it('does not share the port with a second server', async () => {
    const { port } = (await listen()).address() as AddressInfo;
    await expect(listen(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  });

  it('stops listening at once, and serves the connections that are open', async () => {
    const server = await listen();
    const { port } = server.address() as AddressInfo;
    const open = Array.from({ length: CLIENTS }, keptAlive);
    await Promise.all(open.map((agent) => ask({ port }, agent)));
    stopListening(server);
    const refused = await Promise.allSettled(
      Array.from({ length: CLIENTS }, () => ask({ port }, keptAlive())),
    );
    for (const one of refused) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'ECONNREFUSED' } });
    }
    const statuses = await Promise.all(open.map((agent) => ask({ port }, agent)));
    expect(statuses).toEqual(Array.from({ length: CLIENTS }, () => 200));
  });
});

/** Counts the sockets that listen on a port, from the kernel's table. */
function listeningAt(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address === local && state === '0A').length;
}
