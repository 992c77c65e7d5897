import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis, RedisOptions } from 'ioredis';
import { LogOnce } from '../../common/log-once.js';
import { trustingContext } from '../../common/tls-trust.js';
import type { StorageSettings } from '../../config/storage.config.js';

/** DI token of the {@link RedisConnections}; null where no Redis is configured. */
export const REDIS = Symbol('Redis');

type RedisSettings = Pick<
  StorageSettings,
  'redisUrl' | 'redisSentinels' | 'redisSentinelPassword' | 'caBundle'
>;

/**
 * Where the command line notifies running replicas of an operator's change. Channels reach across
 * the databases of one Redis, so the database is part of the name.
 */
export const operatorChannel = ({ options }: Pick<Redis, 'options'>): string =>
  `gatehouse:operator:${options.db ?? 0}`;

const COMMAND_TIMEOUT_MS = 500;
/** A connection that does not answer a command for this long is closed. */
const SILENCE_MS = 2000;
/** The same for connections that wait for messages: the adapter's reads block for 5 s. */
const LISTENER_SILENCE_MS = 8000;
/** How often each is pinged: nothing else detects a broken link. */
const PING_MS = 2000;
const MAX_BACKOFF_MS = 2000;
/** The adapter reads again at once, whatever went wrong. */
const FAILED_READ_PAUSE_MS = 1000;

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
  private readonly logger = new Logger('Redis');
  private hasDropped = false;
  private readonly listeners = new Set<Redis>();
  private readonly pings: NodeJS.Timeout;

  private constructor(
    /** Short commands that fail at once while Redis is away. */
    readonly commands: Redis,
    /** For the socket adapter: what it sends is dropped while Redis is away. */
    readonly cluster: Redis,
  ) {
    this.logAvailability();
    this.dropWhileAway();
    // The adapter makes the connections it listens on out of this one.
    Object.assign(cluster, { duplicate: () => this.openListener() });
    this.pings = setInterval(() => this.pingAll(), PING_MS).unref();
  }

  /** Begins to connect; a server without Redis never loads its client. */
  static async open(url: string, server: RedisOptions = {}): Promise<RedisConnections> {
    const { Redis: Client } = await import('ioredis');
    const options: RedisOptions = {
      ...server,
      retryStrategy: (attempt) => Math.min(attempt * 100, MAX_BACKOFF_MS),
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: SILENCE_MS,
      socketTimeout: SILENCE_MS,
      // After a failover the old primary may keep its connections, and refuse every write on them.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    };
    return new RedisConnections(new Client(url, options), new Client(url, options));
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
    void redis.subscribe(channel).catch(() => undefined);
    return () => this.closeListener(redis);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pings);
    this.commands.disconnect();
    this.cluster.disconnect();
    this.listeners.forEach((redis) => this.closeListener(redis));
  }

  /**
   * A connection that waits for messages, and can do nothing else. It subscribes
   * to its channels again by itself after Redis was away.
   */
  private openListener(): Redis {
    const redis = this.commands.duplicate({
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
      socketTimeout: LISTENER_SILENCE_MS,
    });
    redis.on('error', () => undefined);
    redis.once('ready', () => redis.on('ready', () => this.reportMissed(redis)));
    const read = redis.xread.bind(redis) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(redis, {
      xread: (...args: unknown[]) =>
        read(...args).catch(async (error: unknown) => {
          await sleep(FAILED_READ_PAUSE_MS, undefined, { ref: false });
          throw error;
        }),
    });
    this.listeners.add(redis);
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
    for (const redis of [this.commands, this.cluster, ...this.listeners]) {
      if (redis.status === 'ready') {
        redis.ping().catch(() => undefined);
      }
    }
    this.reportDropped();
  }

  /**
   * The adapter publishes without looking at the outcome: a failed publish must not become an
   * unhandled rejection, nor wait in memory for Redis to come back.
   */
  private dropWhileAway(): void {
    const redis = this.cluster;
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
    if (this.hasDropped && this.cluster.status === 'ready') {
      this.hasDropped = false;
      this.losses.emit('dropped');
    }
  }

  private logAvailability(): void {
    const away = new LogOnce((message) => this.logger.warn(`Redis is not available: ${message}`));
    const onError = ({ message }: Error): void => away.write(message, 'away');
    this.commands.on('error', onError);
    this.cluster.on('error', onError);
    this.commands.on('ready', () => {
      this.logger.log('Redis is ready.');
      away.clear();
    });
  }
}

/** How the server of `redisUrl` is found and trusted: a `rediss:` one is, and so are its Sentinels. */
export function serverOptions(storage: RedisSettings): RedisOptions {
  const { redisUrl, redisSentinels, redisSentinelPassword, caBundle } = storage;
  const isTls = redisUrl?.startsWith('rediss:') === true;
  const secureContext = isTls && caBundle !== null ? trustingContext(caBundle) : undefined;
  const tls = secureContext === undefined ? {} : { tls: { secureContext } };
  if (redisUrl === null || redisSentinels.length === 0) {
    return tls;
  }
  return {
    ...tls,
    name: new URL(redisUrl).hostname,
    sentinels: redisSentinels.map((address) => {
      const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
      return { host, port: Number(port) };
    }),
    ...(redisSentinelPassword !== null && { sentinelPassword: redisSentinelPassword }),
    ...(isTls && { enableTLSForSentinelMode: true, sentinelTLS: tls.tls ?? {} }),
  };
}
