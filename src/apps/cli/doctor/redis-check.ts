import type { RedisOptions } from 'ioredis';
import { Random } from '../../../common/runtime/random.js';
import type { Settings } from '../../../server/config/settings.js';
import {
  createClient,
  createListener,
  type RedisSettings,
} from '../../../server/storage/redis/redis-client.js';
import {
  findRefusals,
  isRefusal,
  operatorChannel,
  refusalOf,
} from '../../../server/storage/redis/redis-probe.js';
import { findWrongScheme } from '../../../server/storage/redis/redis-scheme.js';
import { messageOf, resultsOf, type CheckResult } from './check-result.js';

const redis = resultsOf('redis');

const LIMIT_MS = 5000;
const ONE_TRY: RedisOptions = {
  maxRetriesPerRequest: 0,
  retryStrategy: null,
  sentinelRetryStrategy: () => null,
  connectTimeout: LIMIT_MS,
  commandTimeout: LIMIT_MS,
};

export async function checkRedis({
  storage,
}: Pick<Settings, 'storage'>): Promise<readonly CheckResult[]> {
  const { redisUrl } = storage;
  if (redisUrl === null) {
    return [redis.skipped('REDIS_URL is not set: there is one replica.')];
  }
  const settings = { ...storage, redisUrl };
  const client = createClient(settings, ONE_TRY, { clusterRetryStrategy: null });
  let cause: unknown = null;
  client.on('error', (error: unknown) => {
    cause ??= error;
  });
  try {
    const refusals = [
      ...(await findRefusals(client)),
      ...(await findRefusedSubscription(settings, client)),
    ];
    return [
      refusals.length === 0
        ? redis.ok('It answers, and takes writes.')
        : redis.failed(`It refuses ${refusals.join('; ')}.`),
    ];
  } catch (error) {
    const failure = cause ?? error;
    const advice = isRefusal(failure) ? null : await findWrongScheme(settings);
    return [redis.failed(advice ?? messageOf(failure))];
  } finally {
    client.disconnect();
  }
}

async function findRefusedSubscription(
  settings: RedisSettings,
  client: ReturnType<typeof createClient>,
): Promise<readonly string[]> {
  const listener = createListener(settings, client, ONE_TRY, new Random());
  listener.on('error', () => undefined);
  const channel = operatorChannel(client);
  try {
    const refusal = await refusalOf(`SUBSCRIBE ${channel}`, listener.subscribe(channel));
    return refusal === null ? [] : [refusal];
  } finally {
    listener.disconnect();
  }
}
