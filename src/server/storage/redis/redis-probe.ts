import { sharedCounts } from './redis-rate-store.js';
import type { RedisClient } from './redis-client.js';

/** The adapter's names of its stream and of the channel that all replicas subscribe to. */
const STREAM = 'socket.io';
const CHANNEL = 'socket.io#/#';
/** The counter lasts for a second. */
const COUNTER = ['probe', 1000, 1] as const;

/**
 * Channel of operators' changes. All databases of one Redis share channels, so that the name has
 * the database; a Redis Cluster has only one.
 */
export const operatorChannel = (client: RedisClient): string =>
  `gatehouse:operator:${databaseOf(client)}`;

const databaseOf = (client: RedisClient): number =>
  'db' in client.options ? (client.options.db ?? 0) : 0;

/**
 * Sends each command that the server needs but SUBSCRIBE, which needs a connection of its own. The
 * messages are empty: no replica acts on them.
 * @returns the refusals
 * @throws Error if Redis does not answer
 */
export async function findRefusals(client: RedisClient): Promise<string[]> {
  const database = databaseOf(client);
  const commands: Readonly<Record<string, () => Promise<unknown>>> = {
    // The client continues in database 0 where the server does not have this one.
    ...(database !== 0 && { [`SELECT ${database}`]: () => client.select(database) }),
    [`XADD ${STREAM}`]: () => client.xadd(STREAM, 'MAXLEN', '~', 10_000, '*', 'probe', ''),
    [`XREAD ${STREAM}`]: () => client.xread('COUNT', 1, 'STREAMS', STREAM, '$'),
    [`PUBLISH ${CHANNEL}`]: () => client.publish(CHANNEL, ''),
    [`PUBLISH ${operatorChannel(client)}`]: () => client.publish(operatorChannel(client), ''),
    'EVAL of the rate limits': () => count(client),
  };
  const found = Object.entries(commands).map(([name, send]) => refusalOf(name, send()));
  return (await Promise.all(found)).flatMap((refusal) => refusal ?? []);
}

/**
 * @returns the refusal, or null
 * @throws Error if Redis does not answer
 */
export async function refusalOf(command: string, sent: Promise<unknown>): Promise<string | null> {
  try {
    await sent;
    return null;
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    // A refusal within a script ends with the place in the script.
    const message = error.message.replace(/\.? script: \w+, on @.*$/, '');
    return message.startsWith('MOVED ')
      ? `${command}: it is a cluster. Set REDIS_CLUSTER_NODES`
      : `${command}: ${message}`;
  }
}

/** Returns true for an answer of Redis, in contrast to a failure of the connection. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Returns true where an answer takes longer than the client waits. The connection reports every other failure. */
export function isLate(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

function count(client: RedisClient): Promise<void> {
  const [key, windowMs, max] = COUNTER;
  return new Promise((done, fail) => {
    sharedCounts(client).incr(key, (error) => (error ? fail(error) : done()), windowMs, max);
  });
}
