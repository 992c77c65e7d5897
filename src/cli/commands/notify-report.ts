import type { AttemptResult, Outcome } from '../../notify/delivery.js';
import { maskedToken } from '../../notify/push-token.js';
import type { Progress } from '../../notify/spool-runner.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';

/** What is printed of one target; nothing in it is secret. */
export interface ReportLine {
  readonly target: { readonly kind: 'push' | 'webhook'; readonly id: string | null };
  readonly deliveryId: string | null;
  readonly state: Progress['state'] | Outcome['state'] | 'known';
  readonly attempts?: number;
  readonly code?: string;
  readonly detail?: string;
  readonly reason?: string;
  /** Unix milliseconds of the next try. */
  readonly nextAt?: number;
}

/** Of a target to which nothing was sent. */
export function lineOfOutcome(outcome: Outcome): ReportLine {
  const { state, deliveryId } = outcome;
  const base = { target: masked(outcome.target), deliveryId, state };
  switch (outcome.state) {
    case 'suppressed':
      return { ...base, reason: outcome.reason };
    case 'failed':
      return { ...base, code: outcome.code, detail: outcome.detail };
    case 'sent':
    case 'no-target':
      return base;
  }
}

export function lineOfProgress({ entry, state, attempts, ...rest }: Progress): ReportLine {
  const { delivery, id } = entry;
  const target =
    delivery.kind === 'push'
      ? { kind: delivery.kind, id: delivery.token }
      : { kind: delivery.kind, id: delivery.channelId };
  const { nextAt, code, result } = rest;
  return {
    target: masked(target),
    deliveryId: id,
    state,
    attempts,
    ...(code !== null && { code, ...detailOf(result) }),
    ...(nextAt !== null && { nextAt }),
  };
}

export function wordsOfLine({ target, state, ...line }: ReportLine): string {
  const name = `${target.kind}${target.id === null ? '' : ` ${target.id}`}`;
  const why = line.detail ?? line.code ?? '';
  switch (state) {
    case 'sent':
      return `${name}  sent`;
    case 'known':
      return `${name}  told before: this event was sent, or is being sent (${line.deliveryId})`;
    case 'suppressed':
      return `${name}  not sent: ${REASONS[line.reason ?? ''] ?? line.reason}`;
    case 'no-target':
      return `${name}  nobody to tell: ${NOBODY[target.kind]}`;
    case 'waiting':
      return `${name}  not yet: ${why} Next try at ${formatTime(line.nextAt ?? 0)} (${line.deliveryId})`;
    case 'dropped':
      return `${name}  given up: ${why === 'expired' ? 'It no longer matters, so it is not sent late.' : why} (${line.deliveryId})`;
    case 'failed':
      return `${name}  failed: ${why}${line.deliveryId === null ? '' : ` (${line.deliveryId})`}`;
  }
}

/**
 * 0 all reached or suppressed by preference, 1 some target failed. What kept the settings away counts
 * for more: 3 not logged in, 4 server unreachable.
 */
export function exitCodeOf(lines: readonly ReportLine[]): number {
  const codes = lines.map(({ code }) => code);
  if (codes.includes('server-unreachable')) {
    return EXIT.unreachable;
  }
  if (codes.includes('not-logged-in')) {
    return EXIT.notLoggedIn;
  }
  const isMissed = lines.some(({ state }) => ['failed', 'waiting', 'dropped'].includes(state));
  return isMissed ? EXIT.refused : EXIT.ok;
}

const REASONS: Readonly<Record<string, string>> = {
  'push-disabled': 'push is switched off',
  'topic-off': 'this kind of event is switched off',
  'channel-disabled': 'the channel is disabled',
  expired: 'the event is too old to matter',
};

const NOBODY = {
  push: 'no app has saved a push token at this server',
  webhook: 'there is no channel (gatehouse channels add URL)',
};

function masked({ kind, id }: Outcome['target']): ReportLine['target'] {
  return { kind, id: kind === 'push' && id !== null ? maskedToken(id) : id };
}

function detailOf(result: AttemptResult | null): { detail?: string } {
  return result?.state === 'failed' ? { detail: result.detail } : {};
}
