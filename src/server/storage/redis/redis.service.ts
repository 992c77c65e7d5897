import { EventEmitter } from 'node:events';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { LogOnce } from '../../../common/log-once.js';
import type { Runtime } from '../../../common/runtime/runtime.js';
import type { Timer, Timers } from '../../../common/runtime/timers.js';
import type { RedisClient, RedisSettings } from './redis-client.js';

export const REDIS = Symbol('Redis');

/**
 * Channel of operators' changes. All databases of one Redis share channels, so that the name has
 * the database; a Redis Cluster has only one.
 */
export const operatorChannel = (client: RedisClient): string =>
  `gatehouse:operator:${'db' in client.options ? (client.options.db ?? 0) : 0}`;

const COMMAND_TIMEOUT_MS = 500;
const SILENCE_MS = 2000;
/** The limit for connections that wait for messages: the adapter's reads block for 5 s. */
const LISTENER_SILENCE_MS = 8000;
/** Without pings, a broken link is not detected. */
const PING_MS = 2000;
const MAX_BACKOFF_MS = 2000;
/** A client that sends nothing to a lost node does not learn its replacement otherwise. */
const NODES_REFRESH_MS = 5000;
const FAILED_READ_PAUSE_MS = 1000;

const backOff = (attempt: number): number => Math.min(attempt * 100, MAX_BACKOFF_MS);

const CONNECTION: RedisOptions = {
  retryStrategy: backOff,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: SILENCE_MS,
  socketTimeout: SILENCE_MS,
};

/** Commands do not wait for a failover; nodes are looked up again until it is complete. */
const CLUSTER: ClusterOptions = {
  clusterRetryStrategy: backOff,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshInterval: NODES_REFRESH_MS,
};

/** The error that ioredis reports for a closed connection, whatever the reason was. */
const CLOSED = 'Connection is closed.';

type Send = (...args: unknown[]) => Promise<unknown>;

interface ClusterAllFailedError {
  readonly lastNodeError: Error;
}

const logger = new Logger('Redis');
const wrongMode = new LogOnce((message) => logger.error(message));

function reconnectOnError({ message }: Error): boolean {
  if (message.startsWith('MOVED ')) {
    wrongMode.write(
      'Redis is a cluster: set REDIS_CLUSTER_NODES, or limits and messages are lost.',
    );
  }
  // After a failover the old primary may keep its connections, and refuse every write.
  return message.startsWith('READONLY');
}

interface Losses {
  /** Messages to this process may be lost, because a listening connection was interrupted. */
  missed: [];
  /** Messages of this process were dropped, and Redis is available again. */
  dropped: [];
}

/**
 * Owns the connections to Redis, which stores nothing authoritative. While it is unavailable,
 * counts and messages are dropped, never queued; `losses` then makes replicas read the database.
 */
export class RedisService implements OnApplicationShutdown {
  readonly losses = new EventEmitter<Losses>();
  /** null before the first one. */
  private loggedState: 'ready' | 'away' | null = null;
  private hasDropped = false;
  private readonly listeners = new Set<Redis>();
  private readonly pings: Timer;

  private constructor(
    /** Short commands, which fail at once while Redis is unavailable. */
    readonly commands: RedisClient,
    /** Messages of the socket adapter, which are dropped while Redis is unavailable. */
    readonly broadcasts: RedisClient,
    private readonly connectListener: (options: RedisOptions) => Redis,
    private readonly timers: Timers,
  ) {
    this.logAvailability();
    this.dropWhileUnavailable();
    // The adapter duplicates this connection to create those it listens on.
    Object.assign(broadcasts, { duplicate: () => this.openListener() });
    this.pings = timers.every(PING_MS, () => this.pingAll());
  }

  /** Starts to connect. A server without Redis never loads the client. */
  static async open(settings: RedisSettings, { random, timers }: Runtime): Promise<RedisService> {
    const { createClient, createListener } = await import('./redis-client.js');
    const isOneServer = settings.redisClusterNodes.length === 0;
    const connection = isOneServer ? { ...CONNECTION, reconnectOnError } : CONNECTION;
    const commands = createClient(settings, connection, CLUSTER);
    const broadcasts = createClient(settings, connection, CLUSTER);
    const listen = (options: RedisOptions): Redis =>
      createListener(settings, commands, { ...connection, ...options }, random);
    return new RedisService(commands, broadcasts, listen, timers);
  }

  get isReady(): boolean {
    return this.commands.status === 'ready';
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    const redis = this.openListener();
    redis.on('message', (_channel, message) => listener(message));
    void redis.subscribe(channel);
    return () => this.closeListener(redis);
  }

  onApplicationShutdown(): void {
    this.pings.cancel();
    this.commands.disconnect();
    this.broadcasts.disconnect();
    this.listeners.forEach((redis) => this.closeListener(redis));
  }

  private openListener(): Redis {
    const redis = this.connectListener({
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
      socketTimeout: LISTENER_SILENCE_MS,
    });
    redis.on('error', (error) => this.logListenerFailure(error));
    redis.once('ready', () => redis.on('ready', () => this.reportMissed(redis)));
    this.listeners.add(redis);
    Object.assign(redis, {
      xread: slowlyRepeated(redis, this.timers),
      subscribe: subscribedOnceReady(redis),
    });
    return redis;
  }

  private closeListener(redis: Redis): void {
    this.listeners.delete(redis);
    redis.disconnect();
  }

  /** Redis answers a ping only after the subscriptions that ioredis repeats. */
  private reportMissed(redis: Redis): void {
    redis.ping().then(
      () => this.losses.emit('missed'),
      // The connection failed again. The loss is reported after the next connect.
      () => undefined,
    );
  }

  private pingAll(): void {
    for (const redis of [this.commands, this.broadcasts, ...this.listeners]) {
      if (redis.status === 'ready') {
        this.ping(redis);
      }
    }
    this.reportDropped();
  }

  /** A failed publish must neither become an unhandled rejection nor stay in memory. */
  private dropWhileUnavailable(): void {
    const redis = this.broadcasts;
    const publish = redis.publish.bind(redis) as (...args: unknown[]) => Promise<number>;
    const append = redis.xadd.bind(redis) as (...args: unknown[]) => Promise<string | null>;
    const sent = async <Reply>(send: () => Promise<Reply>, nothing: Reply): Promise<Reply> => {
      try {
        return redis.status === 'ready' ? await send() : this.dropped(nothing);
      } catch {
        return this.dropped(nothing);
      }
    };
    Object.assign(redis, {
      publish: (...args: unknown[]) => sent(() => publish(...args), 0),
      xadd: (...args: unknown[]) => sent(() => append(...args), null),
    });
    redis.on('ready', () => this.reportDropped());
  }

  private dropped<Reply>(nothing: Reply): Reply {
    this.hasDropped = true;
    return nothing;
  }

  /** Messages that listeners publish meanwhile may be dropped as well; they are reported again. */
  private reportDropped(): void {
    if (this.hasDropped && this.broadcasts.status === 'ready') {
      this.hasDropped = false;
      this.losses.emit('dropped');
    }
  }

  /** A cluster node answers a ping even without all slots: the cluster is unavailable then. */
  private ping(client: RedisClient): void {
    if (!isCluster(client)) {
      client.ping().catch(() => undefined);
      return;
    }
    for (const node of client.nodes()) {
      node.ping().catch(() => undefined);
    }
    client.cluster('INFO').then(
      (info) => {
        if (info.includes('cluster_state:fail') && client.status === 'ready') {
          client.disconnect(true);
          if (client === this.commands) {
            this.logLoss('the cluster does not serve all keys');
          }
        }
      },
      () => undefined,
    );
  }

  private logAvailability(): void {
    for (const client of [this.commands, this.broadcasts]) {
      client.on('error', (error: Error & Partial<ClusterAllFailedError>) => {
        const { message } = error.lastNodeError ?? error;
        // The listening connection logs the reason in this case.
        if (message !== CLOSED) {
          this.logLoss(message);
        }
      });
      client.on('ready', () => this.logReturn());
    }
    if (isCluster(this.commands)) {
      logLostNodes(this.commands);
    }
  }

  private logLoss(message: string): void {
    if (this.loggedState !== 'away') {
      this.loggedState = 'away';
      logger.error(`Redis is not available: ${message}`);
    }
  }

  /** Once both connections are there: each of them reports the same outage. */
  private logReturn(): void {
    const isBack = this.isReady && this.broadcasts.status === 'ready';
    if (isBack && this.loggedState !== 'ready') {
      this.loggedState = 'ready';
      logger.log('Redis is ready.');
    }
  }

  /** The client of a cluster does not report why it can reach no node. */
  private logListenerFailure({ message }: Error): void {
    if (isCluster(this.commands) && !this.isReady) {
      this.logLoss(message);
    }
  }
}

/** Delays failed reads, because the adapter repeats them at once after any error. */
function slowlyRepeated(redis: Redis, timers: Timers): Send {
  const read = redis.xread.bind(redis) as Send;
  return (...args) =>
    read(...args).catch(async (error: unknown) => {
      await timers.sleep(FAILED_READ_PAUSE_MS);
      throw error;
    });
}

/**
 * Subscribes after `ready`: a subscription before it makes the client's own check fail. The adapter
 * and ioredis ignore the result, an error with a wrong password.
 */
function subscribedOnceReady(redis: Redis): Send {
  const subscribe = redis.subscribe.bind(redis) as Send;
  const send: Send = (...channels) => subscribe(...channels).catch(() => wait(...channels));
  const wait: Send = (...channels) =>
    new Promise((done) => redis.prependOnceListener('ready', () => done(send(...channels))));
  return (...channels) => (redis.status === 'ready' ? send(...channels) : wait(...channels));
}

const isCluster = (client: RedisClient): client is Cluster => client.isCluster;

function logLostNodes(cluster: Cluster): void {
  const lost = new Set<string>();
  cluster.on('node error', ({ message }: Error, node: string) => {
    if (cluster.status === 'ready' && message !== CLOSED && !lost.has(node)) {
      lost.add(node);
      logger.warn(`The Redis node ${node} is not available: ${message}`);
    }
  });
  cluster.on('+node', (client: Redis) => {
    const node = `${client.options.host}:${client.options.port}`;
    client.once('ready', () => {
      if (lost.delete(node)) {
        logger.log(`The Redis node ${node} is ready.`);
      }
    });
  });
}
