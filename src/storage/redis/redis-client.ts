import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { trustingContext } from '../../common/network/tls-trust.js';
import type { StorageSettings } from '../../config/storage.config.js';

/** A client of one server, of the primary that a Sentinel names, or of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** Which Redis is used, and how it is trusted. */
export type RedisSettings = Pick<
  StorageSettings,
  'redisSentinels' | 'redisSentinelPassword' | 'redisClusterNodes' | 'caBundle'
> & { readonly redisUrl: string };

const DEFAULT_PORT = 6379;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Begins to connect.
 *
 * @param options for each connection
 * @param cluster further ones for a client of a Redis Cluster
 */
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
    // The names stay names: certificates are for them, and a failed look-up is reported as any loss.
    dnsLookup: (host, done) => done(null, host),
    ...cluster,
    redisOptions: {
      ...node,
      ...options,
      Connector: connectorTo((address) => address, node.tls),
    },
  });
}

/** Connects for messages: to where the client is connected, or to one node of its cluster. */
export function createListener(
  settings: RedisSettings,
  client: RedisClient,
  options: RedisOptions,
): Redis {
  return client instanceof Cluster
    ? createNodeClient(settings, client, options)
    : client.duplicate(options);
}

/**
 * Connects to any one node of a cluster, another one after each loss: what is published at one
 * reaches the subscribers of all. To read a stream, the connection moves to the node that has it.
 * ioredis' own subscriber neither notices a silent node nor reports that messages may be lost.
 */
function createNodeClient(settings: RedisSettings, cluster: Cluster, options: RedisOptions): Redis {
  const choice = new NodeChoice(() => {
    const known = cluster.nodes('master').map(addressOf);
    return sample(known.length > 0 ? known : startNodes(settings));
  });
  const node = nodeOptions(settings);
  const redis = new Redis({
    ...node,
    ...options,
    Connector: connectorTo(() => choice.next(), node.tls),
    reconnectOnError: ({ message }) => choice.follows(message) && RECONNECT_AND_RESEND,
  });
  // It left the cluster, or does not answer.
  const leave = (gone: Redis): void => {
    if (choice.isAt(addressOf(gone))) {
      redis.disconnect(true);
    }
  };
  cluster.on('-node', leave);
  redis.once('end', () => cluster.off('-node', leave));
  return redis;
}

const RECONNECT_AND_RESEND = 2;

/** Where the next connection of one client leads. */
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

  /** Whether the error names the node that has the key; the next connection leads there. */
  follows(message: string): boolean {
    const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec(message) ?? [];
    if (host === undefined) {
      return false;
    }
    // A node that does not know its own host name means the one that it was reached by.
    this.moved = { host: host === '' ? (this.current?.host ?? '') : host, port: Number(port) };
    return true;
  }
}

/**
 * For `Connector`, which asks for the address each time that it connects. ioredis' own listens for the
 * first error of a connection only: the second one that TLS may report would end the process.
 *
 * @param addressFor from the options of the client
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

/** @param addresses at least one */
function sample(addresses: readonly Address[]): Address {
  return addresses[Math.floor(Math.random() * addresses.length)]!;
}

/** The node of the address itself, and the others that are named. */
function startNodes({ redisUrl, redisClusterNodes }: RedisSettings): Address[] {
  const { hostname, port } = new URL(redisUrl);
  return [`${hostname}:${port === '' ? DEFAULT_PORT : port}`, ...redisClusterNodes].map(addressIn);
}

/** @param text `host:port`, and a host of IPv6 in brackets */
function addressIn(text: string): Address {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

/** Each node of a cluster has the credentials of the address, and is trusted as it is. */
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

/** How the server of `redisUrl` is found and trusted: a `rediss:` one is, and so are its Sentinels. */
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
