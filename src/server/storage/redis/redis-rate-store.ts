import type { FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import LocalStore from '@fastify/rate-limit/store/LocalStore.js';
import RedisStore from '@fastify/rate-limit/store/RedisStore.js';
import type { RedisClient } from './redis-client.js';

interface SharedRedis {
  readonly commands: RedisClient;
  /** True while it answers too late to wait for. */
  readonly isSlow: boolean;
}

const PREFIX = 'gatehouse:rate:';

/** Returns the counts of all replicas. */
export const sharedCounts = (client: RedisClient): RateLimitStore =>
  new RedisStore(false, false, client, PREFIX);

/**
 * Counts of all replicas in Redis, and of this one where Redis does not answer in time.
 * @param keptKeys most keys that this replica counts; the least recently used are dropped
 */
export function redisRateStore(redis: SharedRedis, keptKeys: number): FastifyRateLimitStoreCtor {
  return class extends RedisRateStore {
    constructor() {
      const local = new LocalStore(false, false, keptKeys);
      super(redis, sharedCounts(redis.commands), local, keptKeys);
    }
  };
}

class RedisRateStore implements RateLimitStore {
  constructor(
    private readonly redis: Pick<SharedRedis, 'isSlow'>,
    private readonly shared: RateLimitStore,
    private readonly local: RateLimitStore,
    private readonly keptKeys: number,
  ) {}

  incr(...[key, done, windowMs, max]: Parameters<RateLimitStore['incr']>): void {
    this.local.incr(
      key,
      (_never, own) => {
        // The store keeps incrementing the object that it returns.
        const counted = own && { ...own };
        const answer = (error: Error | null, count?: RateLimitCount): void =>
          done(null, error === null ? count : counted);
        if (this.redis.isSlow) {
          done(null, counted);
          return;
        }
        this.shared.incr(key, answer, windowMs, max);
      },
      windowMs,
      max,
    );
  }

  child(route: object): RedisRateStore {
    const local = this.local.child({ ...route, cache: this.keptKeys });
    return new RedisRateStore(this.redis, this.shared.child(route), local, this.keptKeys);
  }
}
