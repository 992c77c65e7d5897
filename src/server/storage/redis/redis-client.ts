import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { trustingContext } from '../../network/tls-trust.js';
import type { Random } from '../../../common/runtime/random.js';
import type { StorageSettings } from '../../config/storage.config.js';

export type RedisClient = Redis | Cluster;

export type RedisSettings = Pick<
  StorageSettings,
  'redisSentinels' | 'redisSentinelPassword' | 'redisClusterNodes' | 'caBundle'
> & { readonly redisUrl: string };

const DEFAULT_PORT = 6379;

interface Address {
  readonly host: string;
  readonly port: number;
}

export function createClient(
  settings: RedisSettings,
  options: RedisOptions,
  cluster: ClusterOptions = {},
): RedisClient {
  if (settings.redisClusterNodes.length === 0) {
    return new Redis(settings.redisUrl, { ...serverOptions(settings), ...options });
  }
  const node = nodeOptions(settings);
  return new Cluster(startNodes(settings), {
    // Host names are not resolved here: certificates name hosts, and a failed look-up is then
    // reported like any other connection failure.
    dnsLookup: (host, done) => done(null, host),
    ...cluster,
    redisOptions: {
      ...node,
      ...options,
      Connector: connectorTo((address) => address, node.tls),
    },
  });
}

export function createListener(
  settings: RedisSettings,
  client: RedisClient,
  options: RedisOptions,
  random: Random,
): Redis {
  return client instanceof Cluster
    ? createNodeClient(settings, client, options, random)
    : client.duplicate(options);
}

/**
 * Connects to any node of a cluster: a message published at one reaches the subscribers of all. To
 * read a stream, the connection moves to the node that owns it. ioredis' own subscriber neither
 * notices a silent node nor reports lost messages.
 */
function createNodeClient(
  settings: RedisSettings,
  cluster: Cluster,
  options: RedisOptions,
  random: Random,
): Redis {
  const choice = new NodeChoice(() => {
    const known = cluster.nodes('master').map(addressOf);
    const nodes = known.length > 0 ? known : startNodes(settings);
    return nodes[random.below(nodes.length)]!;
  });
  const node = nodeOptions(settings);
  const redis = new Redis({
    ...node,
    ...options,
    Connector: connectorTo(() => choice.next(), node.tls),
    reconnectOnError: ({ message }) => choice.follows(message) && RECONNECT_AND_RESEND,
  });
  // The node left the cluster, or does not answer.
  const reconnect = (removed: Redis): void => {
    if (choice.isAt(addressOf(removed))) {
      redis.disconnect(true);
    }
  };
  cluster.on('-node', reconnect);
  redis.once('end', () => cluster.off('-node', reconnect));
  return redis;
}

const RECONNECT_AND_RESEND = 2;

class NodeChoice {
  private current: Address | null = null;
  private moved: Address | null = null;

  constructor(private readonly another: () => Address) {}

  next(): Address {
    this.current = this.moved ?? this.another();
    this.moved = null;
    return this.current;
  }

  isAt({ host, port }: Address): boolean {
    return this.current?.host === host && this.current.port === port;
  }

  follows(message: string): boolean {
    const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec(message) ?? [];
    if (host === undefined) {
      return false;
    }
    // A node that does not know its own host name sends an empty one: the host of this connection.
    this.moved = { host: host === '' ? (this.current?.host ?? '') : host, port: Number(port) };
    return true;
  }
}

/**
 * Replaces ioredis' `Connector`, which listens only for the first error of a connection: a second
 * one, which TLS may report, would end the process.
 */
function connectorTo(addressFor: (options: Address) => Address, tls: RedisOptions['tls']) {
  return class extends AbstractConnector {
    private readonly options: Address;

    constructor(options: unknown) {
      super((options as { readonly disconnectTimeout: number }).disconnectTimeout);
      this.options = options as Address;
    }

    connect(): Promise<NonNullable<typeof this.stream>> {
      const { host, port } = addressFor(this.options);
      this.stream = tls ? connectTls({ host, port, ...tls }) : connect({ host, port });
      this.stream.on('error', () => undefined);
      return Promise.resolve(this.stream);
    }
  };
}

function addressOf({ options }: Redis): Address {
  return { host: options.host ?? '', port: options.port ?? DEFAULT_PORT };
}

/** The server to which the first connection is made. */
export function firstAddress(settings: RedisSettings): Address {
  const [sentinel] = settings.redisSentinels;
  return sentinel === undefined ? startNodes(settings)[0]! : addressIn(sentinel);
}

function startNodes({ redisUrl, redisClusterNodes }: RedisSettings): Address[] {
  const { hostname, port } = new URL(redisUrl);
  return [`${hostname}:${port === '' ? DEFAULT_PORT : port}`, ...redisClusterNodes].map(addressIn);
}

/** @param text `host:port`; an IPv6 host is in brackets */
function addressIn(text: string): Address {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

function nodeOptions(settings: RedisSettings): RedisOptions {
  const { username, password } = new URL(settings.redisUrl);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...tlsOptions(settings),
  };
}

function tlsOptions({ redisUrl, caBundle }: RedisSettings): Pick<RedisOptions, 'tls'> {
  if (!redisUrl.startsWith('rediss:')) {
    return {};
  }
  return { tls: caBundle === null ? {} : { secureContext: trustingContext(caBundle) } };
}

function serverOptions(settings: RedisSettings): RedisOptions {
  const { redisUrl, redisSentinels, redisSentinelPassword } = settings;
  const { tls } = tlsOptions(settings);
  if (redisSentinels.length === 0) {
    return { ...(tls && { tls }) };
  }
  return {
    ...(tls && { tls, enableTLSForSentinelMode: true, sentinelTLS: tls }),
    name: new URL(redisUrl).hostname,
    sentinels: redisSentinels.map(addressIn),
    ...(redisSentinelPassword !== null && { sentinelPassword: redisSentinelPassword }),
  };
}
