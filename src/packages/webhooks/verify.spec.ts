import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Headers as OtherHeaders } from 'undici';
import { signatureHeaders, standardSignature } from '../notify/webhook/webhook-signature.js';
import { verify, verifySignature, WebhookRefused } from './verify.js';
import type { WebhookPayload } from './payload.js';
import type { WebhookFacts } from '../notify/webhook/webhook-request.js';

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

/** Returns the header of an endpoint of the specification. */
const serviceOnly = (secret: string, body: Uint8Array = BODY) => ({
  'x-service-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

describe('The signatures', () => {
  it('creates signatures that the library of Standard Webhooks verifies', () => {
    const headers = signed(STANDARD_SECRET);
    expect(new Webhook(STANDARD_SECRET).verify(BODY, headers)).toMatchObject({
      topic: 'permission_request',
    });
    const raw = new Webhook(SECRET, { format: 'raw' });
    expect(raw.verify(BODY, signed(SECRET))).toMatchObject({ topic: 'permission_request' });
    expect(() => raw.verify(BODY, headers)).toThrow('No matching signature');
  });

  it('signs with both secrets during a rotation', () => {
    const headers = signed('new secret', STANDARD_SECRET);
    expect(() => new Webhook(STANDARD_SECRET).verify(BODY, headers)).not.toThrow();
    expect(() => new Webhook('new secret', { format: 'raw' }).verify(BODY, headers)).not.toThrow();
    expect(headers).toMatchObject(serviceOnly('new secret'));
  });

  it('omits signatures without a secret, and keeps the id and the time', () => {
    expect(signed()).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${message.timestamp}`,
    });
  });
});

/** Options without a window, for a receiver that knows only the specification. */
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
    // The types state that only ready events have no request.
    const requestId = payload.topic === 'ready' ? payload.request : payload.request.requestId;
    expect(requestId).toBe('r');
  });

  it('accepts the signature of the specification if no window is requested', () => {
    const delivery = verify(serviceOnly(SECRET), BODY, SECRET, ANY_TIME);
    expect(delivery).toEqual({ signature: 'service', id: null, payload: PAYLOAD });
  });

  it('accepts a signature of an independent tool', () => {
    // printf '{"a":1}' | openssl dgst -sha256 -hmac key
    const known = '88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342';
    const headers = { 'x-service-signature-256': `sha256=${known}` };
    expect(verifySignature(headers, Buffer.from('{"a":1}'), 'key', ANY_TIME)).toBe('service');
  });

  it('accepts a signature of the standard library', () => {
    const library = new Webhook(STANDARD_SECRET);
    const headers = {
      'webhook-id': 'msg_9',
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': `v1a,ignored ${library.sign('msg_9', new Date(NOW), BODY.toString())}`,
    };
    expect(verify(headers, BODY, STANDARD_SECRET)).toMatchObject({ signature: 'standard' });
  });

  it('reads the headers of fetch, and names in any case', () => {
    const headers = signed(SECRET);
    const cased = Object.fromEntries(
      Object.entries(headers).map(([name, value], index) => [
        index % 2 === 0 ? name.toUpperCase() : name.replace(/\b[a-z]/g, (at) => at.toUpperCase()),
        value,
      ]),
    );
    for (const given of [new Headers(headers), new OtherHeaders(headers), cased]) {
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

  it.each(['whsec_', 'whsec_A', `whsec_${randomBytes(15).toString('base64')}`, 'whsec_no base64!'])(
    'throws for the secret %j, whose key is too short',
    (secret) => {
      const problem = new TypeError(
        'verify() needs a whsec_ secret with base64 of at least 16 bytes.',
      );
      expect(() => verify(signed(SECRET), BODY, secret)).toThrow(problem);
      expect(() => verify(signed(SECRET), BODY, [SECRET, secret])).toThrow(problem);
    },
  );

  it('accepts a whsec_ secret of 16 bytes, with and without padding', () => {
    const secret = `whsec_${randomBytes(16).toString('base64')}`;
    expect(reasonFor(signed(secret), BODY, secret)).toBe('accepted: standard');
    expect(reasonFor(signed(secret), BODY, secret.replace(/=+$/, ''))).toBe('accepted: standard');
  });

  it('refuses an id with a dot, because dots separate the parts that are signed', () => {
    const timestamp = Math.floor(Date.now() / 1000);
    const sent = Buffer.concat([Buffer.from(`${timestamp}.`), BODY]);
    // The same bytes are signed for the id `msg_1` and for the id `msg_1.<time>`.
    const signature = standardSignature({ id: 'msg_1', timestamp, rawBody: sent }, SECRET);
    const headers = {
      'webhook-id': `msg_1.${timestamp}`,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    };
    expect(reasonFor(headers, BODY, SECRET)).toBe('missing-signature');
    const dotted = { id: 'msg.1', timestamp, rawBody: BODY };
    expect(() => standardSignature(dotted, SECRET)).toThrow(TypeError);
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

  it('refuses JSON that was serialised again', () => {
    const again = JSON.stringify(JSON.parse(BODY.toString()), null, 2);
    expect(reasonFor(signed(SECRET), again, SECRET)).toBe('wrong-signature');
  });

  it.each([
    ['no JSON', 'payload='],
    ['the body of another preset', '{"text":"*Ready*"}'],
    ['a ready event with a request', JSON.stringify({ ...PAYLOAD, topic: 'ready' })],
    ['a request without an id', JSON.stringify({ ...PAYLOAD, request: {} })],
    [
      'a user action with another kind',
      JSON.stringify({ ...PAYLOAD, topic: 'user_action_request' }),
    ],
    ['a topic of no event', JSON.stringify({ ...PAYLOAD, topic: '__proto__' })],
  ])('refuses %s, although it is signed', (_name, body) => {
    const rawBody = Buffer.from(body);
    const headers = signatureHeaders({ ...message, rawBody }, [SECRET]);
    expect(reasonFor(headers, rawBody, SECRET)).toBe('invalid-payload');
  });

  it.each([
    ...['channelId', 'createdAt', 'content', 'content.title', 'content.body', 'session'],
    ...['session.sessionId', 'session.title', 'request', 'request.requestId', 'request.kind'],
    ...['request.toolName', 'request.toolDetails', 'metadata'],
  ])('refuses a payload without %s, although it is signed', (path) => {
    const changed = structuredClone(PAYLOAD) as Record<string, unknown>;
    const [name = '', inner] = path.split('.');
    const owner = inner === undefined ? changed : (changed[name] as Record<string, unknown>);
    delete owner[inner ?? name];
    const rawBody = Buffer.from(JSON.stringify(changed));
    const headers = signatureHeaders({ ...message, rawBody }, [SECRET]);
    expect(reasonFor(headers, rawBody, SECRET)).toBe('invalid-payload');
  });

  it.each(['', '1e9', '1 000', `+${message.timestamp}`, `${message.timestamp}.0`, '1'.repeat(13)])(
    'refuses the time %j as missing',
    (time) => {
      const headers = { ...signed(SECRET), 'webhook-timestamp': time };
      expect(reasonFor(headers, BODY, SECRET)).toBe('missing-signature');
    },
  );

  it('refuses a delivery without an id', () => {
    expect(reasonFor({ ...signed(SECRET), 'webhook-id': undefined }, BODY, SECRET)).toBe(
      'missing-signature',
    );
  });

  it('refuses a delivery with an id and a time alone', () => {
    expect(reasonFor(signed(), BODY, SECRET)).toBe('missing-signature');
  });

  it('accepts a user action', () => {
    const request = { ...PAYLOAD.request, kind: 'user_action' };
    const payload = { ...PAYLOAD, topic: 'user_action_request', request };
    const rawBody = Buffer.from(JSON.stringify(payload));
    const headers = signatureHeaders({ ...message, rawBody }, [SECRET]);
    expect(verify(headers, rawBody, SECRET).payload).toEqual(payload);
  });

  it('reads a body that is a text', () => {
    expect(reasonFor(signed(SECRET), BODY.toString(), SECRET)).toBe('accepted: standard');
  });

  it('explains a refusal in its message', () => {
    expect(() => verify({}, BODY, SECRET)).toThrow(/no signature/);
  });

  it('keeps unknown fields', () => {
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
  ])('checks the time without options: %d s off is %s', (seconds, expected) => {
    const options = { now: (message.timestamp + seconds) * 1000 };
    expect(reasonFor(signed(SECRET), BODY, SECRET, options)).toBe(expected);
  });

  it('accepts another window, or none', () => {
    const now = (message.timestamp + 86_400) * 1000;
    const window = { toleranceSeconds: 86_400, now };
    expect(reasonFor(signed(SECRET), BODY, SECRET, window)).toBe('accepted: standard');
    const none = { toleranceSeconds: null, now };
    expect(reasonFor(signed(SECRET), BODY, SECRET, none)).toBe('accepted: standard');
  });

  it('ignores the signature that covers no time if a window is requested', () => {
    expect(reasonFor(serviceOnly(SECRET), BODY, SECRET)).toBe('missing-signature');
    const replayed = { ...signed(SECRET), 'webhook-timestamp': String(message.timestamp + 60) };
    expect(reasonFor(replayed, BODY, SECRET)).toBe('wrong-signature');
    const renamed = { ...signed(SECRET), 'webhook-id': 'msg_2' };
    expect(reasonFor(renamed, BODY, SECRET)).toBe('wrong-signature');
  });

  it.each([[''], [[]], [['good', '']]])('refuses %j as a secret', (secret) => {
    expect(() => verify(signed(SECRET), BODY, secret)).toThrow(TypeError);
  });

  it.each([undefined, null, 5, {}])('explains that %j is no secret', (secret) => {
    const problem = 'verify() needs a secret that is not empty.';
    expect(() => verify(signed(SECRET), BODY, secret as never)).toThrow(problem);
  });

  it.each([undefined, null, 5, {}, new ArrayBuffer(1)])(
    'explains that %p is no raw body',
    (body) => {
      for (const headers of [signed(SECRET), {}]) {
        expect(() => verify(headers, body as never, SECRET)).toThrow('verify() needs the raw body');
      }
    },
  );
});
