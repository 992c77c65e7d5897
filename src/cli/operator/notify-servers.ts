import { Cluster } from 'ioredis';
import type { Settings } from '../../config/settings.js';
import { createClient, type RedisClient } from '../../storage/redis/redis-client.js';
import { operatorChannel } from '../../storage/redis/redis-connections.js';

/** A change for running servers, as published on the operator channel. */
export type OperatorMessage =
  | { readonly accountId: string; readonly closes?: 'account-disabled' | 'token-revoked' }
  | { readonly isDue: true };

/** Notifies running servers. @returns a sentence: when the change takes effect */
export async function notifyServers(settings: Settings, message: OperatorMessage): Promise<string> {
  const later =
    'isDue' in message
      ? 'they look for due identities every few seconds.'
      : `requests and live connections are checked again within ${settings.auth.accessCacheMs / 1000} seconds (AUTH_ACCESS_CACHE_SECONDS).`;
  const { redisUrl } = settings.storage;
  if (redisUrl === null) {
    return `Without REDIS_URL running servers are not notified: ${later}`;
  }
  const redis = createClient(
    { ...settings.storage, redisUrl },
    { maxRetriesPerRequest: 0 },
    { clusterRetryStrategy: null },
  );
  redis.on('error', () => undefined);
  try {
    const count = await publish(redis, JSON.stringify(message));
    return count === 0
      ? 'No running server is connected to Redis.'
      : `Running servers were notified (${count}): it takes effect now.`;
  } catch {
    return `Redis does not answer, so running servers were not notified: ${later}`;
  } finally {
    redis.disconnect();
  }
}

/** @returns how many servers listen. A node of a cluster counts its own listeners only. */
async function publish(redis: RedisClient, message: string): Promise<number> {
  const channel = operatorChannel(redis);
  const count = await redis.publish(channel, message);
  if (!(redis instanceof Cluster)) {
    return count;
  }
  const counts = await Promise.allSettled(
    redis.nodes().map(async (node) => Number((await node.pubsub('NUMSUB', channel))[1])),
  );
  return counts.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}
