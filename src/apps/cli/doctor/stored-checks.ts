import type { Settings } from '../../../server/config/settings.js';
import type { DatabaseService } from '../../../server/storage/database.service.js';
import {
  readEventStreams,
  type EventStreamState,
} from '../../../server/storage/repositories/oauth/event-statistics.repository.js';
import { resultsOf, type CheckResult } from './check-result.js';
import { checkSignals, uncheckedSignals } from './signal-checks.js';

const backends = resultsOf('backends');

const DAY_MS = 86_400_000;
/** A key signs for 90 days; the next one is made a day ahead. */
const OLD_KEY_MS = 97 * DAY_MS;

type Checked = Pick<Settings, 'providers' | 'resourceServers' | 'auth'>;

/** Checks that read the content of a database of this version. */
export async function checkStored(
  database: DatabaseService,
  settings: Checked,
): Promise<readonly CheckResult[]> {
  return [
    ...(await checkBackends(database, settings)),
    ...(await checkSignals(database, settings)),
  ];
}

export function uncheckedStored(reason: string): readonly CheckResult[] {
  return [backends.skipped(reason), uncheckedSignals(reason)];
}

interface NewestKey {
  readonly alg: string;
  readonly signsFrom: Date;
}

const NEWEST_KEYS = `
  SELECT "alg", max("signs_from") AS "signsFrom" FROM "signing_key" GROUP BY "alg"`;

/** The client secrets of backends were read with the configuration. Checks the keys and the streams. */
async function checkBackends(
  database: DatabaseService,
  { resourceServers }: Checked,
): Promise<readonly CheckResult[]> {
  if (resourceServers.length === 0) {
    return [backends.skipped('No resource server is configured.')];
  }
  const keys = await database.query<NewestKey>(NEWEST_KEYS);
  const algorithms = [...new Set(resourceServers.map(({ tokenAlg }) => tokenAlg))];
  const ids = resourceServers.map(({ id }) => id);
  const streams = await readEventStreams(database, ids);
  return [
    backends.ok(`The credentials of ${ids.join(', ')} can be read.`),
    ...algorithms.map((alg) =>
      judgeKeyAge(alg, keys.find((key) => key.alg === alg)?.signsFrom.getTime(), Date.now()),
    ),
    ...ids.map((id) =>
      judgeStreams(
        id,
        streams.filter(({ resourceServer }) => resourceServer === id),
      ),
    ),
  ];
}

/** Readers acknowledge an event with their next poll, which follows at once. */
const BEHIND_SECONDS = 60;

/** A backend without a stream may use introspection or a proxy. */
export function judgeStreams(id: string, streams: readonly EventStreamState[]): CheckResult {
  if (streams.length === 0) {
    return backends.skipped(`${id} has no stream of ended sessions.`);
  }
  const paused = streams.filter(({ isPaused }) => isPaused).length;
  const behind = streams.filter((one) => one.oldestWaitingSeconds > BEHIND_SECONDS);
  const text = `${id} has ${streams.length} stream(s) of ended sessions`;
  if (paused > 0) {
    return backends.warning(`${text}, of which ${paused} were not polled for 30 seconds.`);
  }
  const seconds = Math.max(...behind.map((one) => one.oldestWaitingSeconds));
  return behind.length > 0
    ? backends.warning(`${text}; an event waits for ${Math.round(seconds)} seconds.`)
    : backends.ok(`${text}, all polled.`);
}

/** @param signsFrom of the newest key, Unix milliseconds; undefined = there is no key */
function judgeKeyAge(alg: string, signsFrom: number | undefined, now: number): CheckResult {
  if (signsFrom === undefined) {
    return backends.warning(`There is no ${alg} key yet: the next start of the server makes it.`);
  }
  const date = new Date(signsFrom).toISOString().slice(0, 10);
  const text = `The newest ${alg} key signs from ${date}`;
  return now - signsFrom > OLD_KEY_MS
    ? backends.failed(`${text}: no server made the next one in time.`)
    : backends.ok(`${text}.`);
}
