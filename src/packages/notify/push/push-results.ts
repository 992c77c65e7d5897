import type { ExpoPushReceipt, ExpoPushTicket } from 'expo-server-sdk';
import { isRecord, recordOf } from '../../../core/protocol/is-record.js';
import type { AttemptResult, FailedAttempt } from '../delivery/delivery.js';
import { isTemporaryStatus } from '../webhook/webhook-answer.js';

const row = (code: string, isTemporary: boolean, detail: string): FailedAttempt => ({
  state: 'failed',
  code,
  detail,
  isTemporary,
});

const TOO_BIG = 'message-too-big';

/** All documented errors of the push service by their names. */
const PUSH_ERRORS: Readonly<Record<string, FailedAttempt>> = {
  DeviceNotRegistered: row(
    'device-not-registered',
    false,
    'The app was removed from this device, or may not notify there any more.',
  ),
  MessageTooBig: row(TOO_BIG, false, 'The message is larger than the push service takes.'),
  MessageRateExceeded: row(
    'message-rate-exceeded',
    true,
    'Too many messages were sent to this device.',
  ),
  MismatchSenderId: row(
    'mismatch-sender-id',
    false,
    'The push credentials of the app do not belong to the sender it was built with.',
  ),
  InvalidCredentials: row(
    'invalid-credentials',
    false,
    'The push credentials of the app are not valid: its maker must upload new ones.',
  ),
  DeveloperError: row('developer-error', false, 'The push service refuses how the app is set up.'),
  ExpoError: row('push-service-error', true, 'The push service failed on its own.'),
  ProviderError: row('provider-error', true, 'The notification service of the phone failed.'),
  TOO_MANY_REQUESTS: row('too-many-requests', true, 'More than 600 messages in a second.'),
  UNAUTHORIZED: row(
    'push-unauthorized',
    false,
    'The app takes messages with an access token only, and none or a wrong one was given.',
  ),
  PUSH_TOO_MANY_EXPERIENCE_IDS: row(
    'mixed-projects',
    false,
    'The tokens belong to apps of several projects.',
  ),
  PUSH_TOO_MANY_NOTIFICATIONS: row('too-many-notifications', false, 'Too many in one request.'),
  PUSH_TOO_MANY_RECEIPTS: row('too-many-receipts', false, 'Too many receipts in one request.'),
};

export function pushFailure(name: string): FailedAttempt {
  const known = Object.hasOwn(PUSH_ERRORS, name) ? PUSH_ERRORS[name] : undefined;
  const unknown = row('push-refused', false, 'The push service refused, without a reason we know.');
  return known ?? unknown;
}

/** Returns true if the message itself caused the failure, so that a shorter one may succeed. */
export function isTooBig(result: AttemptResult | ReceiptResult | undefined): boolean {
  return result?.state === 'failed' && result.code === TOO_BIG;
}

export function pushRequestFailure(error: unknown): FailedAttempt {
  const { code, statusCode } = factsOf(error);
  if (isUnusableAnswer(error)) {
    return TICKETS_DO_NOT_MATCH;
  }
  if (Object.hasOwn(PUSH_ERRORS, code)) {
    return pushFailure(code);
  }
  // The SDK demands a reason in a list of errors.
  if (code === 'ERR_ASSERTION') {
    const detail = 'The answer of the push service has neither tickets nor a reason.';
    return row('push-answer-unreadable', true, detail);
  }
  if (statusCode === 200) {
    const detail = 'What answered for the push service is not the push service.';
    return row('push-answer-unreadable', true, detail);
  }
  if (statusCode !== null) {
    const detail = `The push service answered ${statusCode}.`;
    return row(`push-http-${statusCode}`, isTemporaryStatus(statusCode), detail);
  }
  const reason = code === '' ? '' : ` (${code})`;
  const detail = `The push service cannot be reached${reason}.`;
  return row('push-unreachable', true, detail);
}

/** The tickets cannot be matched with messages, so none is sent again: some were accepted. */
export const TICKETS_DO_NOT_MATCH = row(
  'tickets-do-not-match',
  false,
  'The push service answered for another number of messages than it was given.',
);

/** Returns the tokens by project if the service refused to send to several projects at once. */
export function projectsIn(error: unknown): string[][] | null {
  const { code, details } = factsOf(error);
  if (code !== 'PUSH_TOO_MANY_EXPERIENCE_IDS' || !isRecord(details)) {
    return null;
  }
  return Object.values(details).map((tokens: unknown) =>
    Array.isArray(tokens) ? tokens.filter((token) => typeof token === 'string') : [],
  );
}

/** The SDK returns a list of another length as `data`, and throws a TypeError for a missing one. */
function isUnusableAnswer(error: unknown): boolean {
  const fields = recordOf(error);
  return 'data' in fields || (error instanceof TypeError && fields['cause'] === undefined);
}

function factsOf(error: unknown): { code: string; statusCode: number | null; details: unknown } {
  const top = recordOf(error);
  const cause = recordOf(top['cause']);
  const code = [top['code'], cause['code']].find((one) => typeof one === 'string') ?? '';
  const statusCode = typeof top['statusCode'] === 'number' ? top['statusCode'] : null;
  return { code, statusCode, details: top['details'] };
}

/** Ids of the service are UUIDs. A longer text is not requested again. */
const MAX_RECEIPT_ID_CHARACTERS = 256;

export function judgeTicket(ticket: ExpoPushTicket | undefined, token: string): AttemptResult {
  if (ticket?.status === 'ok' && typeof ticket.id === 'string') {
    const { id } = ticket;
    return { state: 'sent', ...(id.length <= MAX_RECEIPT_ID_CHARACTERS && { receiptId: id }) };
  }
  const named = ticket?.status === 'error' ? ticket.details?.expoPushToken : undefined;
  if (ticket?.status !== 'error' || (named !== undefined && named !== token)) {
    return TICKETS_DO_NOT_MATCH;
  }
  const name = ticket.details?.error ?? '';
  const isGone = name === 'DeviceNotRegistered';
  return { ...pushFailure(name), ...(isGone && { directive: 'delete-token' }) };
}

/** A message that the push service accepted. */
export interface SentTicket {
  readonly receiptId: string;
  readonly token: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

/** `delivered` = the phone's notification service accepted it; the display is not reported. */
export type ReceiptResult =
  | { readonly state: 'delivered' | 'pending' | 'lost' }
  | {
      readonly state: 'failed';
      readonly code: string;
      readonly detail: string;
      readonly directive?: 'delete-token';
    };

/** Receipts are not available earlier. */
export const RECEIPT_AFTER_MS = 15 * 60_000;
/** Receipts are deleted after this time. */
export const RECEIPT_LOST_AFTER_MS = 24 * 3_600_000;

/** Reads one receipt. A missing one is not ready yet, or was deleted. */
export function judgeReceipt(
  { token, sentAt }: SentTicket,
  receipt: ExpoPushReceipt | undefined,
  now: number,
): ReceiptResult {
  if (receipt?.status === 'ok') {
    return { state: 'delivered' };
  }
  if (receipt?.status !== 'error') {
    return { state: now - sentAt < RECEIPT_LOST_AFTER_MS ? 'pending' : 'lost' };
  }
  const { error = '', expoPushToken = token } = receipt.details ?? {};
  const { code, detail } = pushFailure(error);
  const isGone = error === 'DeviceNotRegistered' && expoPushToken === token;
  return { state: 'failed', code, detail, ...(isGone && { directive: 'delete-token' }) };
}
