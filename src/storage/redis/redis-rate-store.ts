import type { FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import LocalStore from '@fastify/rate-limit/store/LocalStore.js';
import RedisStore from '@fastify/rate-limit/store/RedisStore.js';
import type { RedisConnections } from './redis-connections.js';

const PREFIX = 'gatehouse:rate:';

/**
 * The counts of `@fastify/rate-limit` over all replicas, in Redis. Each replica counts for itself as
 * well, so that its own count is there the moment that Redis does not answer.
 *
 * @param keptKeys how many keys this replica counts itself; beyond it the least recent are dropped
 */
export function redisRateStore(
  { commands }: RedisConnections,
  keptKeys: number,
): FastifyRateLimitStoreCtor {
  return class extends RedisRateStore {
    constructor() {
      const local = new LocalStore(false, false, keptKeys);
      super(new RedisStore(false, false, commands, PREFIX), local, keptKeys);
    }
  };
}

class RedisRateStore implements RateLimitStore {
  constructor(
    private readonly shared: RateLimitStore,
    private readonly local: RateLimitStore,
    private readonly keptKeys: number,
  ) {}

  incr(...[key, done, windowMs, max]: Parameters<RateLimitStore['incr']>): void {
    this.local.incr(
      key,
      (_never, own) => {
        // The store counts on in the object that it gives out.
        const counted = own && { ...own };
        const answer = (error: Error | null, count?: RateLimitCount): void =>
          done(null, error === null ? count : counted);
        this.shared.incr(key, answer, windowMs, max);
      },
      windowMs,
      max,
    );
  }

  child(route: object): RedisRateStore {
    const local = this.local.child({ ...route, cache: this.keptKeys });
    return new RedisRateStore(this.shared.child(route), local, this.keptKeys);
  }
}
