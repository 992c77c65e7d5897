import type { Settings } from '../../../server/config/settings.js';
import { deactivationLimit } from '../../../server/config/providers-file/deactivation-limit.js';
import type { ScimSettings } from '../../../server/config/providers-file/provider-settings.js';
import type { SqlRunner } from '../../../server/storage/database.service.js';
import { readNamesakes } from '../../../server/storage/repositories/directory/directory-name.repository.js';
import { isNameMatch } from '../../../server/storage/repositories/directory/directory-names.js';
import {
  countDirectory,
  type DirectoryCounts,
} from '../../../server/storage/repositories/directory/directory-person.repository.js';
import {
  readReceivedSignals,
  type ProviderSignalKind,
} from '../../../server/storage/repositories/signals/provider-signal.repository.js';
import {
  readSignalStreams,
  type SignalStream,
} from '../../../server/storage/repositories/signals/signal-stream.repository.js';
import { resultsOf, type CheckResult } from './check-result.js';

const signals = resultsOf('signals');

/** A stream without events is verified every hour. */
const SILENT_MS = 3 * 3_600_000;
/** A line of the doctor names so many accounts. */
const NAMED = 3;

type Checked = Pick<Settings, 'providers' | 'auth'>;

interface ExpectedSignal {
  readonly id: string;
  readonly kind: ProviderSignalKind;
  /** True if the operator has set up the provider to send it. */
  readonly isSet: boolean;
}

const NAMES: Readonly<Record<ProviderSignalKind, string>> = {
  webhook: 'webhook delivery',
  'backchannel-logout': 'logout token',
  'global-token-revocation': 'request of universal logout',
  'shared-signals': 'security event',
  scim: 'request of the directory',
};

/** Shows the last signals of providers, their streams and their directories. */
export async function checkSignals(
  sql: SqlRunner,
  settings: Checked,
): Promise<readonly CheckResult[]> {
  return [
    ...(await checkReceived(sql, settings)),
    ...(await checkStreams(sql, settings)),
    ...(await checkDirectories(sql, settings)),
  ];
}

export function uncheckedSignals(reason: string): CheckResult {
  return signals.skipped(reason);
}

/** A provider that sends no signal may have no leavers. */
async function checkReceived(
  sql: SqlRunner,
  { providers, auth }: Checked,
): Promise<readonly CheckResult[]> {
  const expected = providers.flatMap((provider): ExpectedSignal[] => {
    const { id } = provider;
    if (provider.type === 'github') {
      return [{ id, kind: 'webhook', isSet: provider.webhookSecret !== null }];
    }
    const events = { id, kind: 'shared-signals', isSet: true } satisfies ExpectedSignal;
    const revocation = {
      id,
      kind: 'global-token-revocation',
      isSet: false,
    } satisfies ExpectedSignal;
    return [
      { id, kind: 'backchannel-logout', isSet: false },
      ...(provider.globalTokenRevocation === null ? [] : [revocation]),
      ...(provider.sharedSignals === null ? [] : [events]),
      ...(provider.scim === null ? [] : [{ id, kind: 'scim', isSet: false } as const]),
    ];
  });
  if (expected.length === 0) {
    return [signals.skipped('No identity provider is configured.')];
  }
  const received = await readReceivedSignals(sql);
  return expected.map(({ id, kind, isSet }) => {
    const last = received.find((one) => one.provider === id && one.kind === kind);
    const name = NAMES[kind];
    if (last !== undefined) {
      return signals.ok(`${id}: the last ${name} arrived on ${timeOf(last.receivedAt)}.`);
    }
    if (kind === 'webhook' && isSet && !auth.offboarding.enabled) {
      return signals.warning(`${id}: webhooks have no effect without AUTH_OFFBOARDING_ENABLED.`);
    }
    return isSet
      ? signals.warning(`${id}: no ${name} arrived yet. Is it set up at the provider?`)
      : signals.skipped(`${id}: no ${name} arrived yet.`);
  });
}

/** Compares the streams that were connected with those that are configured. */
async function checkStreams(
  sql: SqlRunner,
  { providers }: Checked,
): Promise<readonly CheckResult[]> {
  const streams = await readSignalStreams(sql);
  return providers.flatMap((provider) => {
    const shared = provider.type === 'oidc' ? provider.sharedSignals : null;
    if (shared === null || shared.management === null) {
      return [];
    }
    const { id } = provider;
    const stream = streams.find(
      (one) => one.provider === id && one.transmitter === shared.transmitter,
    );
    return stream === undefined
      ? [signals.warning(`${id}: no stream is connected. Run: gatehouse signals connect ${id}`)]
      : [judgeStream(stream, Date.now())];
  });
}

/** @param now Unix milliseconds */
export function judgeStream(stream: SignalStream, now: number): CheckResult {
  const { provider: id, status, reason, failure, seenAt } = stream;
  if (status !== 'enabled') {
    const why = reason === null ? '' : ` (${reason})`;
    return signals.failed(`${id}: the stream is ${status} at its transmitter${why}.`);
  }
  if (failure !== null) {
    return signals.failed(`${id}: the last request to the transmitter failed: ${failure}.`);
  }
  const text = `${id}: the stream last showed a sign on ${timeOf(seenAt)}`;
  return now - seenAt.getTime() > SILENT_MS
    ? signals.failed(`${text}, although a verification is asked for every hour.`)
    : signals.ok(`${text}.`);
}

async function checkDirectories(
  sql: SqlRunner,
  { providers }: Checked,
): Promise<readonly CheckResult[]> {
  const results = providers.flatMap((provider) => {
    const { id } = provider;
    const scim = provider.type === 'oidc' ? provider.scim : null;
    const judge = async ({ match, deactivationAlarm }: ScimSettings): Promise<CheckResult[]> => {
      const counts = await countDirectory(sql, id);
      const namesakes = isNameMatch(match)
        ? judgeNamesakes(id, await readNamesakes(sql, id, match, NAMED))
        : [];
      const alarms = judgeDeactivations(id, counts, deactivationAlarm);
      return [judgeDirectory(id, counts), ...namesakes, ...alarms];
    };
    return scim === null ? [] : [judge(scim)];
  });
  return (await Promise.all(results)).flat();
}

/** Only an administrator can say if a person was hired again, or another one has the name. */
export function judgeNamesakes(
  id: string,
  { total, accountIds }: Awaited<ReturnType<typeof readNamesakes>>,
): CheckResult[] {
  const text = `${id}: ${total} accounts are refused by the directory, which shows active people of their names`;
  const named = `${accountIds.join(', ')}${total > accountIds.length ? ', …' : ''}`;
  const command = 'gatehouse account enable ID --reason TEXT';
  return total === 0
    ? []
    : [signals.warning(`${text}: ${named}. If a person was hired again, run: ${command}`)];
}

/** @param percentage of the people that raises the alarm. @returns nothing below it */
export function judgeDeactivations(
  id: string,
  { people, recentlyDeactivated: count }: DirectoryCounts,
  percentage: number,
): CheckResult[] {
  const limit = deactivationLimit(people, percentage);
  const text = `${id}: the directory deactivated ${count} people within an hour`;
  const bound = `more than its limit of ${Math.floor(limit)} (deactivationAlarm)`;
  return count > limit ? [signals.warning(`${text}, ${bound}.`)] : [];
}

/** Reports the share of a directory's people that are matched to an identity. */
export function judgeDirectory(
  id: string,
  { people, linked, ambiguous, identities }: DirectoryCounts & { readonly identities: number },
): CheckResult {
  if (people === 0) {
    return signals.warning(`${id}: the directory has sent no person yet.`);
  }
  const share = Math.floor((linked / people) * 100);
  const text = `${id}: ${linked} of ${people} people of the directory are matched (${share} %)`;
  if (ambiguous > 0) {
    return signals.warning(`${text}, and ${ambiguous} match more than one identity.`);
  }
  return linked === 0 && identities > 0
    ? signals.failed(`${text}, but ${identities} people have signed in. Is match right?`)
    : signals.ok(`${text}.`);
}

function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
