/** Interval at which a replica looks for live connections whose last check is too old. */
export const CONNECTION_CHECK_MS = 1000;

/** Longest time in which such a check reads the facts, before a connection receives nothing. */
const CHECK_LIMIT_MS = 1000;

/** Default of `leaseSeconds` of a guard. */
export const GUARD_LEASE_SECONDS = 30;

/** Times after which ended access is refused for certain, whatever fails (docs/proof.md). */
export interface RevocationBounds {
  /** On every replica, for requests and live connections, with Redis and without. */
  readonly replicaSeconds: number;
  /** At a backend with a guard that has the default lease. */
  readonly backendSeconds: number;
}

/**
 * Returns the age at which facts about access count no longer, for requests and live connections.
 *
 * @param accessCacheMs the time for which requests use facts from memory
 */
export function revocationBoundMs(accessCacheMs: number): number {
  return accessCacheMs + CONNECTION_CHECK_MS + CHECK_LIMIT_MS;
}

/** Messages through Redis make the usual time shorter. They may be lost, so no bound relies on them. */
export function revocationBounds(accessCacheMs: number): RevocationBounds {
  return {
    replicaSeconds: revocationBoundMs(accessCacheMs) / 1000,
    backendSeconds: GUARD_LEASE_SECONDS,
  };
}
