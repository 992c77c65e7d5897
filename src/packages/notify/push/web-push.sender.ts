import { importJWK, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { errors } from 'undici';
import { recordOf } from '../../../core/protocol/is-record.js';
import {
  readWebPushToken,
  type WebPushKey,
  type WebPushSubscription,
} from '../../client/notifications/web-push.js';
import { parseJson } from '../../../common/parse-json.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import {
  lastingFailure,
  type AttemptResult,
  type FailedAttempt,
  type WebPushDelivery,
} from '../delivery/delivery.js';
import { Slots } from '../delivery/slots.js';
import { DestinationRefused } from '../webhook/destination-guard.js';
import { GuardedPost, type GuardedPostOptions } from '../webhook/guarded-post.js';
import { EXPIRED, isTemporaryStatus, type WebhookAnswer } from '../webhook/webhook-answer.js';
import { encryptWebPush } from './web-push-encryption.js';

export interface WebPushSenderOptions extends GuardedPostOptions {
  /** `mailto:` or https address of the operator of this sender. Default: the account's server. */
  readonly contact?: string;
  /** Number of concurrent requests. */
  readonly concurrency?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

const CONCURRENCY = 64;
/** Lifetime of a signature; a push service accepts at most 24 hours (RFC 8292, 2). */
const SIGNED_FOR_SECONDS = 12 * 3600;
/** A reused signature stays valid for at least another hour. */
const SIGNATURE_REUSED_MS = 11 * 3_600_000;
const SIGNATURES_KEPT = 500;

/** Sends to browsers through their push services. Close it, or its connections keep the process alive. */
export class WebPushSender {
  private readonly http: GuardedPost;
  private readonly slots: Slots;
  private readonly now: () => number;
  /** Signatures by key, push service and contact. */
  private readonly signatures: LRUCache<string, Promise<string>>;

  constructor(private readonly options: WebPushSenderOptions = {}) {
    this.now = options.now ?? Date.now;
    this.http = new GuardedPost(options);
    this.slots = new Slots(options.concurrency ?? CONCURRENCY);
    const perf = { now: this.now };
    this.signatures = new LRUCache({ max: SIGNATURES_KEPT, ttl: SIGNATURE_REUSED_MS, perf });
  }

  /** Makes one attempt with fresh encryption. Never rejects. */
  attempt(delivery: WebPushDelivery): Promise<AttemptResult> {
    return this.slots.run(() => this.send(delivery).catch(judgeWebPushError));
  }

  close(): Promise<void> {
    return this.http.close();
  }

  private async send({ token, message, key, expiresAt }: WebPushDelivery): Promise<AttemptResult> {
    const subscription = readWebPushToken(token);
    if (subscription === null) {
      return lastingFailure(
        'malformed-token',
        'This is not a push token. The browser must register again.',
      );
    }
    const leftMs = expiresAt - this.now();
    if (leftMs <= 0) {
      return EXPIRED;
    }
    const contact = this.options.contact ?? message.contact;
    const headers = {
      authorization: await this.authorization(subscription, key, contact),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      // Limits the lifetime of a message that waited to that of its event.
      ttl: String(Math.max(1, Math.min(message.ttl, Math.ceil(leftMs / 1000)))),
      urgency: message.urgency,
      topic: message.topic,
      'user-agent': 'gatehouse',
    };
    const post = (text: string): Promise<WebhookAnswer> => {
      const body = encryptWebPush(Buffer.from(text), subscription);
      const { endpoint: url } = subscription;
      return this.http.send({ url, headers, body, timeoutMs: leftMs, readsBody: true });
    };
    const answer = await post(message.text);
    const isTooLarge = answer.status === TOO_LARGE && message.generic !== message.text;
    // The generic text still notifies the user of a waiting request.
    return judgeWebPushAnswer(isTooLarge ? await post(message.generic) : answer, this.now());
  }

  /** Signs for this push service and adds the public key (RFC 8292, 3). */
  private async authorization(
    { endpoint }: WebPushSubscription,
    key: WebPushKey,
    contact: string,
  ): Promise<string> {
    const audience = new URL(endpoint).origin;
    const name = JSON.stringify([key.publicKey, key.privateKey, audience, contact]);
    const signature = this.signatures.get(name) ?? this.sign(key, audience, contact);
    this.signatures.set(name, signature, { noUpdateTTL: true });
    return `vapid t=${await signature}, k=${key.publicKey}`;
  }

  private async sign(key: WebPushKey, audience: string, contact: string): Promise<string> {
    const at = Math.floor(this.now() / 1000);
    return new SignJWT()
      .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
      .setAudience(audience)
      .setSubject(contact)
      .setExpirationTime(at + SIGNED_FOR_SECONDS)
      .sign(await importJWK(jwkOf(key), 'ES256'));
  }
}

function jwkOf({ publicKey, privateKey: d }: WebPushKey) {
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((one) =>
    one.toString('base64url'),
  );
  return { kty: 'EC', crv: 'P-256', x, y, d };
}

const TOO_LARGE = 413;
/** Apple's reason for an unusable contact or time, or a signature of another key. */
const BAD_SIGNATURE = 'BadJwtToken';
const OTHER_KEY = 'VapidPkHashMismatch';

/** Returns the result of a push service's answer (RFC 8030, 5 to 8). */
export function judgeWebPushAnswer(
  { status, headers, body }: WebhookAnswer,
  now: number,
): AttemptResult {
  if (status >= 200 && status < 300) {
    return { state: 'sent' };
  }
  if (status === 404 || status === 410) {
    const detail = 'The browser was unregistered, or may not notify any more.';
    return { ...lastingFailure('device-not-registered', detail), directive: 'delete-token' };
  }
  if (status === TOO_LARGE) {
    return lastingFailure('message-too-big', 'The message is larger than the push service takes.');
  }
  const reason = reasonIn(body);
  const answered = `The push service answered ${status}${reason === null ? '' : ` (${reason})`}`;
  if ([400, 401, 403].includes(status)) {
    return refusal(answered, reason);
  }
  const retryAfterMs = readRetryAfter(headers['retry-after'], now);
  return {
    ...lastingFailure(`push-http-${status}`, `${answered}.`),
    isTemporary: isTemporaryStatus(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function refusal(answered: string, reason: string | null): FailedAttempt {
  if (reason === BAD_SIGNATURE) {
    const detail = `${answered}: it takes no signature with the contact of this sender, which has to be a public https or e-mail address, or with the time of its clock, or of another key than the browser was registered with.`;
    return lastingFailure('web-push-signature', detail);
  }
  const isOtherKey = reason === null || reason === OTHER_KEY;
  const why = isOtherKey
    ? ': the browser was registered with another Web Push key, or the key is damaged. Register the browser again.'
    : '.';
  return lastingFailure('web-push-refused', `${answered}${why}`);
}

/** Apple names the reason of a refusal in JSON. */
function reasonIn(body: string | undefined): string | null {
  const { reason } = body === undefined ? {} : recordOf(parseJson(body));
  return typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : null;
}

function judgeWebPushError(error: unknown): FailedAttempt {
  if (error instanceof DestinationRefused) {
    return lastingFailure(
      error.code,
      'The push service of this token is not on the public internet, and this sender does not permit it.',
    );
  }
  // An answer that is not HTTP has no code.
  const isUnreadable = error instanceof errors.HTTPParserError;
  const code = isUnreadable ? error.name : recordOf(error)['code'];
  if (typeof code === 'string' && !/^ERR_(JOSE|JW|CRYPTO|OSSL)/.test(code)) {
    const detail = `The push service cannot be reached (${code}).`;
    return { ...lastingFailure('push-unreachable', detail), isTemporary: true };
  }
  return lastingFailure(
    'web-push-refused',
    'The Web Push key, or that of the browser, is damaged.',
  );
}
