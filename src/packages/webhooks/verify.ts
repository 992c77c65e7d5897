import { timingSafeEqual } from 'node:crypto';
import {
  SERVICE_SIGNATURE_HEADER,
  serviceSignature,
  standardSignature,
} from '../notify/webhook/webhook-signature.js';
import { signingKey } from '../notify/webhook/signing-secret.js';
import { readPayload, type WebhookPayload } from './payload.js';

/** Headers as Node gives them, or as fetch does, also that of another library; names in any case. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /**
   * Seconds by which `webhook-timestamp` may differ from now, either way; default 300. Only the
   * Standard Webhooks signature covers the time, so no other counts then. null = any time, and the
   * signature of the specification counts too: an old delivery can be sent again.
   */
  readonly toleranceSeconds?: number | null;
  /** Unix milliseconds; default the clock. */
  readonly now?: number;
}

/** The signature that was valid. `standard` covers id and time, `service` only the body. */
export type SignatureKind = 'service' | 'standard';

/** A delivery of a channel with the preset `generic`, signed with the secret. */
export interface VerifiedDelivery {
  readonly signature: SignatureKind;
  /** `webhook-id`, the same on every retry: skip ids that were handled. Null where none was sent. */
  readonly id: string | null;
  readonly payload: WebhookPayload;
}

export type RefusalReason =
  | 'missing-signature'
  | 'wrong-signature'
  | 'wrong-time'
  | 'invalid-payload';

const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  'missing-signature': 'The delivery has no signature that covers it.',
  'wrong-signature': 'The delivery was signed with another secret, or changed on its way.',
  'wrong-time': 'The delivery is too old, or the clocks differ.',
  'invalid-payload': 'The body is not the payload of a delivery.',
};

/** The request is not a delivery signed with the secret: answer 401, and do nothing else. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';

  constructor(readonly reason: RefusalReason) {
    super(MESSAGES[reason]);
  }
}

const TOLERANCE_SECONDS = 300;
const MAX_SIGNATURES = 16;

/**
 * Returns the delivery in a request if it was signed with the secret (specification, Webhook
 * signing).
 *
 * @param rawBody the bytes as received: JSON that was parsed and serialized again does not verify
 * @param secret of the channel; several during a rotation
 * @throws WebhookRefused for any request that is no signed delivery
 * @throws TypeError without a secret, for an empty one, or a `whsec_` secret of less than 16 bytes;
 *   and for a body that was parsed
 */
export function verify(
  headers: WebhookHeaders,
  rawBody: Uint8Array | string,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): VerifiedDelivery {
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody;
  const signature = verifySignature(headers, body, secret, options);
  const payload = readPayload(body);
  if (payload === null) {
    throw new WebhookRefused('invalid-payload');
  }
  return { signature, id: headerIn(headers, 'webhook-id'), payload };
}

/**
 * {@link verify} for a body of any form, such as that of another preset.
 *
 * @throws WebhookRefused, TypeError
 */
export function verifySignature(
  headers: WebhookHeaders,
  rawBody: Uint8Array,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): SignatureKind {
  if (!ArrayBuffer.isView(rawBody)) {
    throw new TypeError('verify() needs the raw body: its bytes, or its text before it is parsed.');
  }
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!isFilled(secrets) || !secrets.every((one) => typeof one === 'string' && one !== '')) {
    throw new TypeError('verify() needs a secret that is not empty.');
  }
  if (secrets.some((one) => signingKey(one) === null)) {
    throw new TypeError('verify() needs a whsec_ secret with base64 of at least 16 bytes.');
  }
  const refusal = standardRefusal(headers, rawBody, secrets, { toleranceSeconds, now });
  if (refusal === null) {
    return 'standard';
  }
  const signature = headerIn(headers, SERVICE_SIGNATURE_HEADER);
  if (toleranceSeconds !== null || signature === null) {
    throw new WebhookRefused(refusal);
  }
  if (secrets.some((one) => isEqual(signature, serviceSignature(rawBody, one)))) {
    return 'service';
  }
  throw new WebhookRefused('wrong-signature');
}

/** False also for the undefined of a variable that is not set. */
function isFilled(secrets: unknown): boolean {
  return Array.isArray(secrets) && secrets.length > 0;
}

function standardRefusal(
  headers: WebhookHeaders,
  rawBody: Uint8Array,
  secrets: readonly string[],
  { toleranceSeconds, now }: Required<VerifyOptions>,
): RefusalReason | null {
  const id = headerIn(headers, 'webhook-id');
  const time = headerIn(headers, 'webhook-timestamp') ?? '';
  const signatures = headerIn(headers, 'webhook-signature')?.split(' ', MAX_SIGNATURES);
  // Standard Webhooks separates id, time and body by dots, so an id contains none.
  if (id === null || id.includes('.') || signatures === undefined || !/^\d{1,12}$/.test(time)) {
    return 'missing-signature';
  }
  const timestamp = Number(time);
  const expected = secrets.map((one) => standardSignature({ id, timestamp, rawBody }, one));
  if (!signatures.some((one) => expected.some((other) => isEqual(one, other)))) {
    return 'wrong-signature';
  }
  const isTimely =
    toleranceSeconds === null || Math.abs(now / 1000 - timestamp) <= toleranceSeconds;
  return isTimely ? null : 'wrong-time';
}

/** Compares the lengths, then in constant time (specification, Webhook signing 3). */
function isEqual(received: string, expected: string): boolean {
  const [one, other] = [Buffer.from(received), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Returns null for a missing, empty or repeated header. */
function headerIn(headers: WebhookHeaders, name: string): string | null {
  const values = isFetched(headers)
    ? [headers.get(name) ?? undefined]
    : Object.keys(headers).flatMap((key) => (key.toLowerCase() === name ? [headers[key]] : []));
  const [value] = values.length === 1 ? values : [];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Not by its class: each library of fetch has one of its own. */
function isFetched(headers: WebhookHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}
