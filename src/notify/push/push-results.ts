import type { ExpoPushReceipt, ExpoPushTicket } from 'expo-server-sdk';
import { isRecord, recordOf } from '../../client/is-record.js';
import type { AttemptResult, FailedAttempt } from '../delivery/delivery.js';
import { isTemporaryStatus } from '../webhook/webhook-answer.js';

const row = (code: string, isTemporary: boolean, detail: string): FailedAttempt => ({
  state: 'failed',
  code,
  detail,
  isTemporary,
});

const TOO_BIG = 'message-too-big';

/** Every error the push service documents, of requests, tickets and receipts, by its own name. */
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
    'The push credentials of the app are not valid: its maker must upload them anew.',
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

/** Of an error that names itself as the push service does. */
export function pushFailure(name: string): FailedAttempt {
  const known = Object.hasOwn(PUSH_ERRORS, name) ? PUSH_ERRORS[name] : undefined;
  const unknown = row('push-refused', false, 'The push service refused, without a reason we know.');
  return known ?? unknown;
}

/** Whether the message itself was the reason, so that a shorter one may arrive. */
export function isTooBig(result: AttemptResult | ReceiptResult | undefined): boolean {
  return result?.state === 'failed' && result.code === TOO_BIG;
}

/** Of a request to the push service that failed as a whole, as its SDK throws it. */
export function pushRequestFailure(error: unknown): FailedAttempt {
  const { code, statusCode } = factsOf(error);
  if (isAnswerOfNoUse(error)) {
    return TICKETS_DO_NOT_MATCH;
  }
  if (Object.hasOwn(PUSH_ERRORS, code)) {
    return pushFailure(code);
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

/** The tickets do not say which message they are for: whatever was accepted is not sent again. */
export const TICKETS_DO_NOT_MATCH = row(
  'tickets-do-not-match',
  false,
  'The push service answered for another number of messages than it was given.',
);

/** The tokens of each project, where the service refused to send to several at once. */
export function projectsIn(error: unknown): string[][] | null {
  const { code, details } = factsOf(error);
  if (code !== 'PUSH_TOO_MANY_EXPERIENCE_IDS' || !isRecord(details)) {
    return null;
  }
  return Object.values(details).map((tokens: unknown) =>
    Array.isArray(tokens) ? tokens.filter((token) => typeof token === 'string') : [],
  );
}

/** The SDK shows a list of another length as `data`, and stumbles where there is none at all. */
function isAnswerOfNoUse(error: unknown): boolean {
  const fields = recordOf(error);
  return 'data' in fields || (error instanceof TypeError && fields['cause'] === undefined);
}

function factsOf(error: unknown): { code: string; statusCode: number | null; details: unknown } {
  const top = recordOf(error);
  const cause = recordOf(top['cause']);
  const code = [top['code'], cause['code']].find((one) => typeof one === 'string') ?? '';
  const statusCode = typeof top['statusCode'] === 'number' ? top['statusCode'] : null;
  return { code: String(code), statusCode, details: top['details'] };
}

/** Reads a ticket, the answer for one message. */
export function judgeTicket(ticket: ExpoPushTicket | undefined, token: string): AttemptResult {
  if (ticket?.status === 'ok' && typeof ticket.id === 'string') {
    return { state: 'sent', receiptId: ticket.id };
  }
  const named = ticket?.status === 'error' ? ticket.details?.expoPushToken : undefined;
  if (ticket?.status !== 'error' || (named !== undefined && named !== token)) {
    return TICKETS_DO_NOT_MATCH;
  }
  const name = ticket.details?.error ?? '';
  const isGone = name === 'DeviceNotRegistered';
  return { ...pushFailure(name), ...(isGone && { directive: 'delete-token' }) };
}

/** A message that the push service took. */
export interface SentTicket {
  readonly receiptId: string;
  readonly token: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

/** `delivered` = the phone's notification service has it; whether it was shown is unknown. */
export type ReceiptResult =
  | { readonly state: 'delivered' | 'pending' | 'lost' }
  | {
      readonly state: 'failed';
      readonly code: string;
      readonly detail: string;
      readonly directive?: 'delete-token';
    };

/** Receipts are not ready before this. */
export const RECEIPT_AFTER_MS = 15 * 60_000;
/** And are forgotten after this. */
export const RECEIPT_LOST_AFTER_MS = 24 * 3_600_000;

/** Reads one receipt; a missing one is not ready yet, or never will be. */
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
