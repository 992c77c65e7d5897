import { timingSafeEqual } from 'node:crypto';
import {
  SERVICE_SIGNATURE_HEADER,
  serviceSignature,
  standardSignature,
} from '../notify/webhook/webhook-signature.js';

/** Headers as Node gives them, or as fetch does. */
export type WebhookHeaders =
  Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /**
   * Seconds by which `webhook-timestamp` may differ from now, either way. With it only the Standard
   * Webhooks signature counts, as it alone covers the time: an old delivery cannot be replayed.
   */
  readonly toleranceSeconds?: number;
  /** Unix milliseconds; default the clock. */
  readonly now?: number;
}

export type Verification =
  | { readonly valid: true; readonly signature: 'service' | 'standard' }
  | {
      readonly valid: false;
      readonly reason: 'missing-signature' | 'wrong-signature' | 'wrong-time';
    };

const MAX_SIGNATURES = 16;

/**
 * Whether a delivery was signed with the secret (specification, Webhook signing 1 to 3). Never
 * throws for what a sender could send.
 *
 * @param rawBody the bytes as received: JSON that was parsed and written again does not verify
 * @param secret of the channel; several while one is being replaced
 * @throws TypeError for an empty secret or none at all
 */
export function verify(
  headers: WebhookHeaders,
  rawBody: Uint8Array | string,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Verification {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && one !== '')) {
    throw new TypeError('verify() needs a secret that is not empty.');
  }
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody;
  const { toleranceSeconds, now = Date.now() } = options;
  const standard = verifyStandard(headers, body, secrets, now, toleranceSeconds ?? null);
  if (standard.valid || toleranceSeconds !== undefined) {
    return standard;
  }
  const signature = headerIn(headers, SERVICE_SIGNATURE_HEADER);
  if (signature === null) {
    return standard;
  }
  return secrets.some((one) => isEqual(signature, serviceSignature(body, one)))
    ? { valid: true, signature: 'service' }
    : { valid: false, reason: 'wrong-signature' };
}

function verifyStandard(
  headers: WebhookHeaders,
  rawBody: Uint8Array,
  secrets: readonly string[],
  now: number,
  toleranceSeconds: number | null,
): Verification {
  const id = headerIn(headers, 'webhook-id');
  const time = headerIn(headers, 'webhook-timestamp') ?? '';
  const signatures = headerIn(headers, 'webhook-signature')?.split(' ', MAX_SIGNATURES);
  if (id === null || signatures === undefined || !/^\d{1,12}$/.test(time)) {
    return { valid: false, reason: 'missing-signature' };
  }
  const timestamp = Number(time);
  const expected = secrets.map((one) => standardSignature({ id, timestamp, rawBody }, one));
  if (!signatures.some((one) => expected.some((other) => isEqual(one, other)))) {
    return { valid: false, reason: 'wrong-signature' };
  }
  const isTimely =
    toleranceSeconds === null || Math.abs(now / 1000 - timestamp) <= toleranceSeconds;
  return isTimely ? { valid: true, signature: 'standard' } : { valid: false, reason: 'wrong-time' };
}

/** Length first, then in constant time (specification, Webhook signing 3). */
function isEqual(received: string, expected: string): boolean {
  const [one, other] = [Buffer.from(received), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Null when the header is missing, empty or given more than once. */
function headerIn(headers: WebhookHeaders, name: string): string | null {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
