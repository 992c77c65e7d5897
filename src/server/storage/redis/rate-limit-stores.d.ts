// The stores of @fastify/rate-limit, which its own types do not declare.
interface RateLimitCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

interface RateLimitStore {
  incr(
    key: string,
    done: (error: Error | null, count?: RateLimitCount) => void,
    windowMs: number,
    max: number,
  ): void;
  child(route: object): RateLimitStore;
}

declare module '@fastify/rate-limit/store/LocalStore.js' {
  const LocalStore: new (
    continueExceeding: boolean,
    exponentialBackoff: boolean,
    keptKeys: number,
  ) => RateLimitStore;
  export default LocalStore;
}

declare module '@fastify/rate-limit/store/RedisStore.js' {
  const RedisStore: new (
    continueExceeding: boolean,
    exponentialBackoff: boolean,
    redis: import('./redis-client.js').RedisClient,
    prefix: string,
  ) => RateLimitStore;
  export default RedisStore;
}
