import { EventEmitter } from 'node:events';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { Runtime } from '../../../common/runtime/runtime.js';
import type { Timer, Timers } from '../../../common/runtime/timers.js';
import type { RedisClient, RedisSettings } from './redis-client.js';
import { findRefusals, isLate, isRefusal } from './redis-probe.js';

export const REDIS = Symbol('Redis');

/** `refusing`: it answers, but refuses commands that the server needs. */
type RedisState = 'ready' | 'refusing' | 'away';

const COMMAND_TIMEOUT_MS = 500;
const SILENCE_MS = 2000;
/** The limit for connections that wait for messages: the adapter's reads block for 5 s. */
const LISTENER_SILENCE_MS = 8000;
/** Without pings, a broken link is not detected. */
const PING_MS = 2000;
const MAX_BACKOFF_MS = 2000;
/** A client that sends nothing to a lost node does not learn its replacement otherwise. */
const NODES_REFRESH_MS = 5000;
const REFUSED_PAUSE_MS = 1000;

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

interface ClientError extends Error {
  /** The command that Redis refused. */
  readonly command?: { readonly name: string };
  /** The cause of the error of a cluster. */
  readonly lastNodeError?: Error;
}

const logger = new Logger('Redis');

/** After a failover the old primary may keep its connections, and refuse every write. */
const reconnectOnError = ({ message }: Error): boolean => message.startsWith('READONLY');

interface Losses {
  /** Messages to this process may be lost: a listening connection was interrupted, or refused. */
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
  private loggedState: RedisState | null = null;
  /** null before the first answer. */
  private refusals: readonly string[] | null = null;
  private readonly refusedSubscriptions = new Map<Redis, string>();
  private probe: Promise<void> | null = null;
  /** The number of the last probes whose answers were late. */
  private lateAnswers = 0;
  private hasDropped = false;
  private readonly listeners = new Set<Redis>();
  private readonly pings: Timer;

  private constructor(
    /** Short commands, which fail at once while Redis is unavailable. */
    readonly commands: RedisClient,
    /** Messages of the socket adapter, which are dropped while Redis is unavailable. */
    readonly broadcasts: RedisClient,
    private readonly connectListener: (options: RedisOptions) => Redis,
    private readonly findWrongScheme: () => Promise<string | null>,
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
    const { findWrongScheme } = await import('./redis-scheme.js');
    const isOneServer = settings.redisClusterNodes.length === 0;
    const connection = isOneServer ? { ...CONNECTION, reconnectOnError } : CONNECTION;
    const commands = createClient(settings, connection, CLUSTER);
    const broadcasts = createClient(settings, connection, CLUSTER);
    const listen = (options: RedisOptions): Redis =>
      createListener(settings, commands, { ...connection, ...options }, random);
    const advise = (): Promise<string | null> => findWrongScheme(settings);
    return new RedisService(commands, broadcasts, listen, advise, timers);
  }

  get state(): RedisState {
    if (!this.isConnected || this.refusals === null || this.isSlow) {
      return 'away';
    }
    return this.isRefusing ? 'refusing' : 'ready';
  }

  /** True while it answers too late to wait for. A single late answer may be a pause, as for a snapshot. */
  get isSlow(): boolean {
    return this.lateAnswers > 1;
  }

  private get isRefusing(): boolean {
    return this.refusals !== null && this.refusals.length > 0;
  }

  private get isConnected(): boolean {
    return this.commands.status === 'ready' && this.broadcasts.status === 'ready';
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
      subscribe: this.subscribedOnceReady(redis),
    });
    return redis;
  }

  private closeListener(redis: Redis): void {
    this.listeners.delete(redis);
    this.refusedSubscriptions.delete(redis);
    redis.disconnect();
  }

  /**
   * Subscribes after `ready`: a subscription before it makes the client's own check fail. Refused
   * ones are repeated until Redis accepts them. The adapter and ioredis ignore the result.
   */
  private subscribedOnceReady(redis: Redis): Send {
    const subscribe = redis.subscribe.bind(redis) as Send;
    const send: Send = async (...channels) => {
      try {
        const result = await subscribe(...channels);
        this.refusedSubscriptions.delete(redis);
        return result;
      } catch (error) {
        if (isRefusal(error) && redis.status === 'ready') {
          this.refusedSubscriptions.set(redis, `SUBSCRIBE ${channels.join(' ')}: ${error.message}`);
          void this.check();
          await this.timers.sleep(REFUSED_PAUSE_MS);
        }
        return repeat(...channels);
      }
    };
    const wait: Send = (...channels) =>
      new Promise((done) => redis.prependOnceListener('ready', () => done(send(...channels))));
    const repeat: Send = (...channels) =>
      redis.status === 'ready' ? send(...channels) : wait(...channels);
    return repeat;
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
    void this.check();
  }

  /** Finds out what Redis refuses. Without an answer, the last one counts. */
  private check(): Promise<void> {
    this.probe ??= this.findRefusals().finally(() => (this.probe = null));
    return this.probe;
  }

  private async findRefusals(): Promise<void> {
    if (!this.isConnected) {
      return;
    }
    try {
      const refusals = await findRefusals(this.commands);
      this.lateAnswers = 0;
      this.settle([...refusals, ...this.refusedSubscriptions.values()]);
    } catch (error) {
      this.lateAnswers += isLate(error) ? 1 : 0;
      if (this.isSlow) {
        this.logLoss(`it takes longer than ${COMMAND_TIMEOUT_MS} ms to answer`);
      }
    }
  }

  private settle(refusals: readonly string[]): void {
    const wasRefusing = this.isRefusing;
    this.refusals = refusals;
    if (this.isRefusing) {
      this.logRefusal();
      return;
    }
    this.logReturn();
    if (wasRefusing) {
      this.losses.emit('missed');
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
      } catch (error) {
        if (isRefusal(error) && this.state === 'ready') {
          void this.check();
        }
        return this.dropped(nothing);
      }
    };
    Object.assign(redis, {
      publish: (...args: unknown[]) => sent(() => publish(...args), 0),
      xadd: (...args: unknown[]) => sent(() => append(...args), null),
    });
  }

  private dropped<Reply>(nothing: Reply): Reply {
    this.hasDropped = true;
    return nothing;
  }

  /** Messages that listeners publish meanwhile may be dropped as well; they are reported again. */
  private reportDropped(): void {
    if (this.hasDropped && this.state === 'ready') {
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
      client.on('error', (error: ClientError) => {
        const { message } = error.lastNodeError ?? error;
        // The listening connection logs the reason of the first, and the probe that of the second.
        if (message !== CLOSED && error.command?.name !== 'select') {
          this.logLoss(message);
        }
      });
      client.on('close', () => this.forgetAcceptance());
      // A refusing server that ends the connections is asked again by the next ping.
      client.on('ready', () => void (this.isRefusing ? undefined : this.check()));
    }
    if (isCluster(this.commands)) {
      logLostNodes(this.commands);
    }
  }

  /** The next connection may lead to another server. */
  private forgetAcceptance(): void {
    this.lateAnswers = 0;
    if (!this.isRefusing) {
      this.refusals = null;
    }
  }

  private logLoss(message: string): void {
    const isFirst = this.loggedState === null;
    if (isFirst || this.loggedState === 'ready') {
      this.loggedState = 'away';
      void this.logCause(message, isFirst);
    }
  }

  private async logCause(message: string, isFirst: boolean): Promise<void> {
    const advice = isFirst ? await this.findWrongScheme().catch(() => null) : null;
    logger.error(`Redis is not available: ${advice ?? message}`);
  }

  private logRefusal(): void {
    if (this.loggedState !== 'refusing') {
      this.loggedState = 'refusing';
      logger.error(`Redis refuses ${this.refusals?.join('; ')}`);
    }
  }

  private logReturn(): void {
    if (this.loggedState !== 'ready') {
      this.loggedState = 'ready';
      logger.log('Redis is ready.');
    }
  }

  /** The client of a cluster does not report why it can reach no node. */
  private logListenerFailure({ message }: Error): void {
    if (isCluster(this.commands) && this.commands.status !== 'ready') {
      this.logLoss(message);
    }
  }
}

/** Delays failed reads, because the adapter repeats them at once after any error. */
function slowlyRepeated(redis: Redis, timers: Timers): Send {
  const read = redis.xread.bind(redis) as Send;
  return (...args) =>
    read(...args).catch(async (error: unknown) => {
      await timers.sleep(REFUSED_PAUSE_MS);
      throw error;
    });
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
