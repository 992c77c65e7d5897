import { parseJson } from '../../../common/parse-json.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { lastingFailure, type AttemptResult, type FailedAttempt } from '../delivery/delivery.js';
import type { DestinationRefused } from './destination-guard.js';

export interface WebhookAnswer {
  readonly status: number;
  /** Present if it was requested and is complete. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export const EXPIRED: AttemptResult = {
  state: 'failed',
  code: 'expired',
  detail: 'It no longer mattered when its turn came, so it was not sent.',
  isTemporary: true,
};

/** Returns true if the status is temporary (contract, The sender): these, and every 5xx. */
export function isTemporaryStatus(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}

/** Returns the result of an answer: only a 2xx is a delivery, and redirects are not followed. */
export function judgeAnswer({ status, headers }: WebhookAnswer, now: number): AttemptResult {
  const request = String(headers['webhook-delivery'] ?? '').toLowerCase();
  const directive = request === 'disable' ? ({ directive: 'disable-channel' } as const) : {};
  if (status >= 200 && status < 300) {
    return { state: 'sent', ...directive };
  }
  const retryAfterMs = readRetryAfter(headers['retry-after'], now);
  return {
    state: 'failed',
    code: isRedirect(status) ? 'redirect-refused' : `http-${status}`,
    detail: detailOf(status),
    isTemporary: isTemporaryStatus(status) && request !== 'disable' && request !== 'abort-message',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...directive,
  };
}

/** Returns the message id in a chat service's answer; null where it has none. */
export function messageIdIn({ body }: WebhookAnswer): string | null {
  const { id } = body === undefined ? {} : recordOf(parseJson(body));
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : null;
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

function detailOf(status: number): string {
  if (isRedirect(status)) {
    return `The webhook answered ${status}, a redirect. Give the channel the address it leads to.`;
  }
  if (status === 410) {
    return 'The webhook answered 410: it is gone for good. Remove the channel, or change its url.';
  }
  return `The webhook answered ${status}.`;
}

type Failure = Pick<FailedAttempt, 'code' | 'detail'>;

const TIMEOUT: Failure = { code: 'timeout', detail: 'The webhook did not answer in time.' };
const FAILURES: Readonly<Record<string, Failure>> = {
  UND_ERR_CONNECT_TIMEOUT: TIMEOUT,
  UND_ERR_HEADERS_TIMEOUT: TIMEOUT,
  ETIMEDOUT: TIMEOUT,
  ENOTFOUND: { code: 'host-not-found', detail: 'The host name in the url is unknown.' },
  EAI_AGAIN: { code: 'host-not-found', detail: 'The name of the host cannot be looked up now.' },
  ECONNREFUSED: { code: 'connection-refused', detail: 'Nothing listens at the url.' },
  ECONNRESET: { code: 'connection-cut', detail: 'The webhook cut the connection.' },
  UND_ERR_SOCKET: { code: 'connection-cut', detail: 'The webhook cut the connection.' },
};
const CERTIFICATE_ERROR =
  /CERT|ISSUER|ERR_TLS|UNABLE_TO_VERIFY|INVALID_(CA|PURPOSE)|HOSTNAME|^PATH_LENGTH/;

/** Every reason is temporary, except a refusal by this sender. */
export function judgeError(error: unknown): FailedAttempt {
  // Compared by name, because the class would load the table of networks for each command.
  if (
    error instanceof Error &&
    error.name === ('DestinationRefused' satisfies DestinationRefused['name'])
  ) {
    return lastingFailure('destination-refused', error.message);
  }
  return { state: 'failed', ...failureOf(error), isTemporary: true };
}

function failureOf(error: unknown): Failure {
  const code = codeOf(error);
  if (CERTIFICATE_ERROR.test(code)) {
    const detail = `The certificate of the webhook is not trusted (${code}).`;
    return { code: 'certificate-refused', detail };
  }
  const detail = `The connection to the webhook failed${code === '' ? '' : ` (${code})`}.`;
  return FAILURES[code] ?? { code: 'network-error', detail };
}

/** A host with several addresses has several failures, of which the first counts. */
function codeOf(error: unknown): string {
  const { code, errors } = recordOf(error);
  if (Array.isArray(errors) && errors.length > 0) {
    return codeOf(errors[0]);
  }
  return typeof code === 'string' ? code : '';
}
