import { Redis } from 'ioredis';
import { freePort } from './service-process.ts';
import { startRedis, type Service, type ServiceTls } from './services.ts';
import { waitFor } from './wait.ts';

/** One server of a {@link RedisCluster}. */
export interface RedisNode extends Pick<Service, 'kill' | 'stop'> {
  /** With TLS. */
  readonly tlsUrl: string;
  readonly plainUrl: string;
}

/** Three primaries with a third of the slots each, and a replica of the second. */
export interface RedisCluster {
  /** The slot of `socket.io`, the stream of Socket.IO, belongs to the second. */
  readonly primaries: readonly [RedisNode, RedisNode, RedisNode];
  readonly replica: RedisNode;
  /** Asks a node, at its port without TLS. */
  ask(node: RedisNode, command: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  readonly tls: ServiceTls & { readonly caPath: string };
  readonly password: string;
}

const SLOTS = [
  [0, 5460],
  [5461, 10_922],
  [10_923, 16_383],
] as const;

/** Starts a private Redis Cluster that asks for a password, and waits until it serves all slots. */
export async function startRedisCluster(options: ClusterOptions): Promise<RedisCluster> {
  const start = () => startNode(options);
  const nodes = await Promise.all([start(), start(), start(), start()]);
  const [first, second, third, replica] = nodes;
  const ask: RedisCluster['ask'] = async ({ plainUrl }, command, ...args) => {
    const client = new Redis(plainUrl);
    try {
      return String(await client.call(command, ...args));
    } finally {
      client.disconnect();
    }
  };
  for (const [index, [from, to]] of SLOTS.entries()) {
    await ask(nodes[index]!, 'CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${to}`);
  }
  for (const { tlsPort, busPort } of nodes.slice(1)) {
    await ask(first, 'CLUSTER', 'MEET', '127.0.0.1', `${tlsPort}`, `${busPort}`);
  }
  const secondId = await ask(second, 'CLUSTER', 'MYID');
  await waitFor('the replica knows its primary', () =>
    ask(replica, 'CLUSTER', 'REPLICATE', secondId).catch(() => false),
  );
  await waitFor('the replica is up to date', async () =>
    (await ask(replica, 'INFO', 'replication')).includes('master_link_status:up'),
  );
  await waitFor('every node serves all slots, and knows the replica', async () => {
    const states = nodes.map(async (node) => {
      const [info, members] = [ask(node, 'CLUSTER', 'INFO'), ask(node, 'CLUSTER', 'NODES')];
      return (await info).includes('cluster_state:ok') && (await members).includes('slave ');
    });
    return !(await Promise.all(states)).includes(false);
  });
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  return { primaries: [first, second, third], replica, ask, stop };
}

async function startNode({ tls, password }: ClusterOptions) {
  const [port, busPort] = [await freePort(), await freePort()];
  const service = await startRedis({
    tls,
    settings: {
      port,
      'tls-ca-cert-file': tls.caPath,
      'tls-cluster': 'yes',
      'tls-replication': 'yes',
      'cluster-enabled': 'yes',
      'cluster-port': busPort,
      'cluster-node-timeout': 2000,
      'cluster-replica-validity-factor': 0,
      requirepass: password,
      masterauth: password,
    },
  });
  const tlsPort = Number(new URL(service.url).port);
  const { kill, stop } = service;
  const at = `:${encodeURIComponent(password)}@127.0.0.1`;
  const urls = { tlsUrl: `rediss://${at}:${tlsPort}`, plainUrl: `redis://${at}:${port}` };
  return { ...urls, kill, stop, tlsPort, busPort };
}
