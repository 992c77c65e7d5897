import { Redis } from 'ioredis';
import type { Settings } from '../../config/settings.js';
import { operatorChannel, serverOptions } from '../../storage/redis/redis-connections.js';

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
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    ...serverOptions(settings.storage),
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const count = await redis.publish(operatorChannel(redis), JSON.stringify(message));
    return count === 0
      ? 'No running server is connected to Redis.'
      : `Running servers were notified (${count}): it takes effect now.`;
  } catch {
    return `Redis does not answer, so running servers were not notified: ${later}`;
  } finally {
    redis.disconnect();
  }
}
