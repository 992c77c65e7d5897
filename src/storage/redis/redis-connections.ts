import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { LogOnce } from '../../common/log-once.js';
import type { RedisClient, RedisSettings } from './redis-client.js';

/** DI token of the {@link RedisConnections}; null where no Redis is configured. */
export const REDIS = Symbol('Redis');

/**
 * Where the command line notifies running replicas of an operator's change. Channels reach across
 * the databases of one Redis, so the database is part of the name; a Redis Cluster has only one.
 */
export const operatorChannel = (client: RedisClient): string =>
  `gatehouse:operator:${'db' in client.options ? (client.options.db ?? 0) : 0}`;

const COMMAND_TIMEOUT_MS = 500;
/** A connection that does not answer a command for this long is closed. */
const SILENCE_MS = 2000;
/** The same for connections that wait for messages: the adapter's reads block for 5 s. */
const LISTENER_SILENCE_MS = 8000;
/** How often each is pinged: nothing else detects a broken link. */
const PING_MS = 2000;
const MAX_BACKOFF_MS = 2000;
/** Where nothing is sent to a lost node, nothing else says which one replaces it. */
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

/** Nothing waits for a failover; the nodes are looked up again until it is known. */
const CLUSTER: ClusterOptions = {
  clusterRetryStrategy: backOff,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshInterval: NODES_REFRESH_MS,
};

/** What ioredis reports for a connection that ended, whatever the reason was. */
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
  // After a failover the old primary may keep its connections, and refuse every write on them.
  return message.startsWith('READONLY');
}

interface Losses {
  /** Messages to this process may have been lost: a connection that waits for them was down. */
  missed: [];
  /** Messages of this process were dropped, and Redis answers again. */
  dropped: [];
}

/**
 * The connections to Redis, where several replicas share one. Nothing here is the truth about
 * anything: while Redis is away, counts and messages between replicas are dropped, never queued.
 * `losses` reports it afterwards, so that replicas read from the database what they missed.
 */
export class RedisConnections implements OnApplicationShutdown {
  readonly losses = new EventEmitter<Losses>();
  private readonly away = new LogOnce((message) =>
    logger.warn(`Redis is not available: ${message}`),
  );
  private hasDropped = false;
  private readonly listeners = new Set<Redis>();
  private readonly pings: NodeJS.Timeout;

  private constructor(
    /** Short commands that fail at once while Redis is away. */
    readonly commands: RedisClient,
    /** For the socket adapter: what it sends is dropped while Redis is away. */
    readonly broadcasts: RedisClient,
    private readonly connectListener: (options: RedisOptions) => Redis,
  ) {
    this.logAvailability();
    this.dropWhileAway();
    // The adapter makes the connections it listens on out of this one.
    Object.assign(broadcasts, { duplicate: () => this.openListener() });
    this.pings = setInterval(() => this.pingAll(), PING_MS).unref();
  }

  /** Begins to connect; a server without Redis never loads its client. */
  static async open(settings: RedisSettings): Promise<RedisConnections> {
    const { createClient, createListener } = await import('./redis-client.js');
    const isOneServer = settings.redisClusterNodes.length === 0;
    const connection = isOneServer ? { ...CONNECTION, reconnectOnError } : CONNECTION;
    const commands = createClient(settings, connection, CLUSTER);
    const broadcasts = createClient(settings, connection, CLUSTER);
    return new RedisConnections(commands, broadcasts, (options) =>
      createListener(settings, commands, { ...connection, ...options }),
    );
  }

  get isReady(): boolean {
    return this.commands.status === 'ready';
  }

  /**
   * Calls `listener` with every message of the channel; those sent while Redis is away are lost.
   *
   * @returns ends it
   */
  subscribe(channel: string, listener: (message: string) => void): () => void {
    const redis = this.openListener();
    redis.on('message', (_channel, message) => listener(message));
    void redis.subscribe(channel);
    return () => this.closeListener(redis);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pings);
    this.commands.disconnect();
    this.broadcasts.disconnect();
    this.listeners.forEach((redis) => this.closeListener(redis));
  }

  /**
   * A connection that waits for messages, and can do nothing else. It subscribes
   * to its channels again by itself after Redis was away.
   */
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
    Object.assign(redis, { xread: slowlyRepeated(redis), subscribe: subscribedOnceReady(redis) });
    return redis;
  }

  private closeListener(redis: Redis): void {
    this.listeners.delete(redis);
    redis.disconnect();
  }

  /** The answer to a ping comes after those to the subscriptions that ioredis repeats. */
  private reportMissed(redis: Redis): void {
    redis.ping().then(
      () => this.losses.emit('missed'),
      // Down again: it is reported after the next connect.
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

  /**
   * The adapter publishes without looking at the outcome: a failed publish must not become an
   * unhandled rejection, nor wait in memory for Redis to come back.
   */
  private dropWhileAway(): void {
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

  /** What listeners publish then may be dropped again, and is reported again. */
  private reportDropped(): void {
    if (this.hasDropped && this.broadcasts.status === 'ready') {
      this.hasDropped = false;
      this.losses.emit('dropped');
    }
  }

  /** A cluster answers whatever it serves: without all slots it is away, and connected to again. */
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
        if (String(info).includes('cluster_state:fail') && client.status === 'ready') {
          client.disconnect(true);
          if (client === this.commands) {
            this.away.write('the cluster does not serve all keys', 'away');
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
        // Then a listener logs the reason.
        if (message !== CLOSED) {
          this.away.write(message, 'away');
        }
      });
    }
    if (isCluster(this.commands)) {
      logLostNodes(this.commands);
    }
    this.commands.on('ready', () => {
      logger.log('Redis is ready.');
      this.away.clear();
    });
  }

  /** The client of a cluster does not report why no node can be reached. */
  private logListenerFailure({ message }: Error): void {
    if (isCluster(this.commands) && !this.isReady) {
      this.away.write(message, 'away');
    }
  }
}

/** The adapter reads again at once, whatever went wrong. */
function slowlyRepeated(redis: Redis): Send {
  const read = redis.xread.bind(redis) as Send;
  return (...args) =>
    read(...args).catch(async (error: unknown) => {
      await sleep(FAILED_READ_PAUSE_MS, undefined, { ref: false });
      throw error;
    });
}

/**
 * The adapter and ioredis do not look at the outcome, which a wrong password makes a failure; then it
 * waits for the next connection. Sent before `ready`, it would make the client's own check fail.
 */
function subscribedOnceReady(redis: Redis): Send {
  const subscribe = redis.subscribe.bind(redis) as Send;
  const send: Send = (...channels) => subscribe(...channels).catch(() => wait(...channels));
  const wait: Send = (...channels) =>
    new Promise((done) => redis.prependOnceListener('ready', () => done(send(...channels))));
  return (...channels) => (redis.status === 'ready' ? send(...channels) : wait(...channels));
}

const isCluster = (client: RedisClient): client is Cluster => client.isCluster;

/** Logs each node that is lost while the others are there, once until it answers again. */
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
