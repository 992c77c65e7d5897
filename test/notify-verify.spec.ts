import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../src/notify/webhook/webhook-signature.js';
import { verify, verifySignature, WebhookRefused } from '../src/webhooks/verify.js';
import type { WebhookPayload } from '../src/webhooks/payload.js';
import type { WebhookFacts } from '../src/notify/webhook/webhook-request.js';

const NOW = Date.now();
const PAYLOAD = {
  channelId: 'channel-1',
  createdAt: NOW,
  topic: 'permission_request',
  content: { title: 'Grüße ☕', body: 'Bash needs your permission' },
  session: { sessionId: 's', title: '' },
  request: { requestId: 'r', kind: 'permission', toolName: 'Bash', toolDetails: null },
  metadata: { eventId: 'evt-1', serverUrl: 'https://gate.example', attempt: 1 },
} as const satisfies WebhookPayload & WebhookFacts;
const BODY = Buffer.from(JSON.stringify(PAYLOAD));
const SECRET = 'a secret of words';
const STANDARD_SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const message = { id: 'msg_1', timestamp: Math.floor(NOW / 1000), rawBody: BODY };
const signed = (...secrets: string[]) => signatureHeaders(message, secrets);

/** What an endpoint of the specification does: its own header and nothing else. */
const serviceOnly = (secret: string, body: Uint8Array = BODY) => ({
  'x-service-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

describe('The signatures', () => {
  it('are those of Standard Webhooks, as its own library has them', () => {
    const headers = signed(STANDARD_SECRET);
    expect(new Webhook(STANDARD_SECRET).verify(BODY, headers)).toMatchObject({
      topic: 'permission_request',
    });
    const raw = new Webhook(SECRET, { format: 'raw' });
    expect(raw.verify(BODY, signed(SECRET))).toMatchObject({ topic: 'permission_request' });
    expect(() => raw.verify(BODY, headers)).toThrow('No matching signature');
  });

  it('are made with both secrets while one is being replaced', () => {
    const headers = signed('new secret', STANDARD_SECRET);
    expect(() => new Webhook(STANDARD_SECRET).verify(BODY, headers)).not.toThrow();
    expect(() => new Webhook('new secret', { format: 'raw' }).verify(BODY, headers)).not.toThrow();
    expect(headers).toMatchObject(serviceOnly('new secret'));
  });

  it('are left out without a secret, but not the id and the time', () => {
    expect(signed()).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${message.timestamp}`,
    });
  });
});

/** Without a window, as a receiver that only knows the specification. */
const ANY_TIME = { toleranceSeconds: null, now: NOW };

const reasonFor = (...args: Parameters<typeof verify>): string => {
  try {
    return `accepted: ${verify(...args).signature}`;
  } catch (error) {
    return error instanceof WebhookRefused ? error.reason : String(error);
  }
};

describe(verify.name, () => {
  it('returns the delivery, with its payload by topic', () => {
    const delivery = verify(signed(SECRET), BODY, SECRET);
    expect(delivery).toEqual({ signature: 'standard', id: 'msg_1', payload: PAYLOAD });
    const { payload } = delivery;
    // As types: only ready events have no request.
    const requestId = payload.topic === 'ready' ? payload.request : payload.request.requestId;
    expect(requestId).toBe('r');
  });

  it('accepts the signature of the specification where no window is asked for', () => {
    const delivery = verify(serviceOnly(SECRET), BODY, SECRET, ANY_TIME);
    expect(delivery).toEqual({ signature: 'service', id: null, payload: PAYLOAD });
  });

  it('accepts the known answer of an independent tool', () => {
    // printf '{"a":1}' | openssl dgst -sha256 -hmac key
    const known = '88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342';
    const headers = { 'x-service-signature-256': `sha256=${known}` };
    expect(verifySignature(headers, Buffer.from('{"a":1}'), 'key', ANY_TIME)).toBe('service');
  });

  it('accepts what the standard library signs', () => {
    const library = new Webhook(STANDARD_SECRET);
    const headers = {
      'webhook-id': 'msg_9',
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': `v1a,ignored ${library.sign('msg_9', new Date(NOW), BODY.toString())}`,
    };
    expect(verify(headers, BODY, STANDARD_SECRET)).toMatchObject({ signature: 'standard' });
  });

  it('takes the headers of fetch, and names in any case', () => {
    const headers = signed(SECRET);
    const cased = Object.fromEntries(
      Object.entries(headers).map(([name, value], index) => [
        index % 2 === 0 ? name.toUpperCase() : name.replace(/\b[a-z]/g, (at) => at.toUpperCase()),
        value,
      ]),
    );
    for (const given of [new Headers(headers), cased]) {
      expect(reasonFor(given, BODY, SECRET)).toBe('accepted: standard');
    }
    const again = { ...headers, 'Webhook-Id': 'msg_1' };
    expect(reasonFor(again, BODY, SECRET)).toBe('missing-signature');
  });

  it('accepts either of two secrets', () => {
    expect(reasonFor(signed('old'), BODY, ['new', 'old'])).toBe('accepted: standard');
    expect(reasonFor(serviceOnly('old'), BODY, ['new', 'old'], ANY_TIME)).toBe('accepted: service');
    expect(reasonFor(signed('other'), BODY, ['new', 'old'])).toBe('wrong-signature');
  });

  const right = serviceOnly(SECRET)['x-service-signature-256'];
  it.each([
    ['no header', {}, 'missing-signature'],
    ['an empty header', { 'x-service-signature-256': '' }, 'missing-signature'],
    ['a header given twice', { 'x-service-signature-256': [right, right] }, 'missing-signature'],
    ['a shorter one', { 'x-service-signature-256': right.slice(0, -1) }, 'wrong-signature'],
    ['a longer one', { 'x-service-signature-256': `${right}0` }, 'wrong-signature'],
    ['upper case', { 'x-service-signature-256': right.toUpperCase() }, 'wrong-signature'],
    ['no prefix', { 'x-service-signature-256': right.slice(7) }, 'wrong-signature'],
    ['wide characters', { 'x-service-signature-256': '€'.repeat(71) }, 'wrong-signature'],
    ['another secret', serviceOnly('another'), 'wrong-signature'],
    ['another body', serviceOnly(SECRET, Buffer.from('{}')), 'wrong-signature'],
  ])('refuses %s', (_name, headers, reason) => {
    expect(reasonFor(headers, BODY, SECRET, ANY_TIME)).toBe(reason);
  });

  it('refuses JSON that was written again', () => {
    const again = JSON.stringify(JSON.parse(BODY.toString()), null, 2);
    expect(reasonFor(signed(SECRET), again, SECRET)).toBe('wrong-signature');
  });

  it.each([
    ['no JSON', 'payload='],
    ['the body of another preset', '{"text":"*Ready*"}'],
    ['a ready event with a request', JSON.stringify({ ...PAYLOAD, topic: 'ready' })],
    ['a request without an id', JSON.stringify({ ...PAYLOAD, request: {} })],
    ['a topic of no event', JSON.stringify({ ...PAYLOAD, topic: '__proto__' })],
  ])('refuses %s, although it is signed', (_name, body) => {
    const rawBody = Buffer.from(body);
    const headers = signatureHeaders({ ...message, rawBody }, [SECRET]);
    expect(reasonFor(headers, rawBody, SECRET)).toBe('invalid-payload');
  });

  it('keeps fields that it does not know', () => {
    const rawBody = Buffer.from(JSON.stringify({ ...PAYLOAD, later: true }));
    const headers = signatureHeaders({ ...message, rawBody }, [SECRET]);
    expect(verify(headers, rawBody, SECRET).payload).toMatchObject({ later: true });
  });

  it.each([
    [0, 'accepted: standard'],
    [300, 'accepted: standard'],
    [-300, 'accepted: standard'],
    [301, 'wrong-time'],
    [-301, 'wrong-time'],
  ])('without options, %d s off is %s', (seconds, expected) => {
    const options = { now: (message.timestamp + seconds) * 1000 };
    expect(reasonFor(signed(SECRET), BODY, SECRET, options)).toBe(expected);
  });

  it('takes another window, or none', () => {
    const now = (message.timestamp + 86_400) * 1000;
    const window = { toleranceSeconds: 86_400, now };
    expect(reasonFor(signed(SECRET), BODY, SECRET, window)).toBe('accepted: standard');
    const none = { toleranceSeconds: null, now };
    expect(reasonFor(signed(SECRET), BODY, SECRET, none)).toBe('accepted: standard');
  });

  it('within a window does not fall back to the signature that covers no time', () => {
    expect(reasonFor(serviceOnly(SECRET), BODY, SECRET)).toBe('missing-signature');
    const replayed = { ...signed(SECRET), 'webhook-timestamp': String(message.timestamp + 60) };
    expect(reasonFor(replayed, BODY, SECRET)).toBe('wrong-signature');
    const renamed = { ...signed(SECRET), 'webhook-id': 'msg_2' };
    expect(reasonFor(renamed, BODY, SECRET)).toBe('wrong-signature');
  });

  it.each([[''], [[]], [['good', '']]])('does not work with %j for a secret', (secret) => {
    expect(() => verify(signed(SECRET), BODY, secret)).toThrow(TypeError);
  });
});
