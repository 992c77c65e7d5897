import {
  targetOf,
  type Delivery,
  type Ending,
  type Outcome,
  type StoredDelivery,
} from '../../../packages/notify/delivery/delivery.js';
import { PRIVATE_HOSTS_VARIABLE } from '../../../packages/notify/environment.js';
import type { DestinationRefused } from '../../../packages/notify/webhook/destination-guard.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import { EXIT } from '../cli-error.js';
import { formatTime } from '../output.js';

/** The printed result of one target. Contains no secret. */
export interface ReportLine {
  readonly target: { readonly kind: 'push' | 'webhook'; readonly id: string | null };
  readonly deliveryId: string | null;
  readonly state: Outcome['state'] | Ending['state'] | 'waiting' | 'known';
  readonly attempts?: number;
  readonly code?: string;
  readonly detail?: string;
  readonly reason?: string;
  /** Unix milliseconds of the next attempt. */
  readonly nextAt?: number;
}

/** The part of a line that decides the exit code. */
export type LineResult = Pick<ReportLine, 'state' | 'code'>;

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

export interface DeliveryFacts {
  readonly state: ReportLine['state'];
  readonly attempts?: number;
  readonly code?: string | null;
  readonly detail?: string | undefined;
  readonly nextAt?: number | null;
}

export function lineOfDelivery(
  delivery: Delivery | StoredDelivery,
  { code = null, detail, nextAt = null, ...facts }: DeliveryFacts,
): ReportLine {
  return {
    target: masked(targetOf(delivery)),
    deliveryId: delivery.id,
    ...facts,
    ...(code !== null && { code, ...(detail !== undefined && { detail }) }),
    ...(nextAt !== null && { nextAt }),
  };
}

export function describeLine({ target, state, ...line }: ReportLine): string {
  const name = `${target.kind}${target.id === null ? '' : ` ${target.id}`}`;
  const why = line.detail ?? line.code ?? '';
  switch (state) {
    case 'sent':
      return `${name}  sent`;
    case 'known':
      return `${name}  ${line.code === undefined ? 'already sent' : 'being sent by another process'} (${line.deliveryId})`;
    case 'suppressed':
      return `${name}  not sent: ${REASONS[line.reason ?? ''] ?? line.reason}`;
    case 'no-target':
      return `${name}  no target: ${NO_TARGET[target.kind]}`;
    case 'waiting':
      return `${name}  not yet: ${why}${nextTry(line.nextAt)} (${line.deliveryId})`;
    case 'dropped':
      return `${name}  given up: ${GIVEN_UP[why] ?? why} (${line.deliveryId})`;
    case 'failed':
      return `${name}  failed: ${why}${adviceFor(line.code)}${line.deliveryId === null ? '' : ` (${line.deliveryId})`}`;
  }
}

/**
 * Returns 1 if a target failed, 3 or 4 if the settings were unreadable for lack of a login or
 * server.
 */
export function exitCodeOf(lines: readonly LineResult[]): number {
  const codes = lines.map(({ code }) => code);
  if (codes.includes('server-unreachable')) {
    return EXIT.unreachable;
  }
  if (codes.includes('not-logged-in')) {
    return EXIT.notLoggedIn;
  }
  const isFailed = lines.some(
    ({ state, code = '' }) =>
      ['failed', 'waiting', 'dropped'].includes(state) && !NOT_NEEDED.includes(code),
  );
  return isFailed ? EXIT.refused : EXIT.ok;
}

const NOT_NEEDED = ['resolved', 'superseded'];

/** The sender's own message names no variable: other programs have an option for it. */
function adviceFor(code: string | undefined): string {
  const isRefused = code === ('destination-refused' satisfies DestinationRefused['code']);
  return isRefused ? ` Hosts to permit: ${PRIVATE_HOSTS_VARIABLE}.` : '';
}

function nextTry(at: number | undefined): string {
  return at === undefined ? '' : ` Next try at ${formatTime(at)}`;
}

const REASONS: Readonly<Record<string, string>> = {
  'push-disabled': 'push is switched off',
  'topic-off': 'this kind of event is switched off',
  'channel-disabled': 'the channel is disabled',
  expired: 'the event is too old to matter',
};

const GIVEN_UP: Readonly<Record<string, string>> = {
  expired: 'It no longer matters, so it is not sent late.',
  resolved: 'The request was answered.',
  superseded: 'A newer event of the session was sent.',
};

const NO_TARGET = {
  push: 'no app has saved a push token at this server',
  webhook: 'there is no channel (gatehouse channels add URL)',
};

function masked({ kind, id }: Outcome['target']): ReportLine['target'] {
  return { kind, id: kind === 'push' && id !== null ? maskedToken(id) : id };
}
