import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../src/notify/webhook/webhook-signature.js';
import { verify } from '../src/webhooks/verify.js';

const NOW = Date.now();
const BODY = Buffer.from('{"topic":"ready","title":"Grüße ☕"}');
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
    expect(new Webhook(STANDARD_SECRET).verify(BODY, headers)).toMatchObject({ topic: 'ready' });
    const raw = new Webhook(SECRET, { format: 'raw' });
    expect(raw.verify(BODY, signed(SECRET))).toMatchObject({ topic: 'ready' });
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

describe(verify.name, () => {
  it('accepts the signature of the specification', () => {
    expect(verify(serviceOnly(SECRET), BODY, SECRET)).toEqual({
      valid: true,
      signature: 'service',
    });
  });

  it('accepts the known answer of an independent tool', () => {
    // printf '{"a":1}' | openssl dgst -sha256 -hmac key
    const known = '88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342';
    const headers = { 'x-service-signature-256': `sha256=${known}` };
    expect(verify(headers, '{"a":1}', 'key').valid).toBe(true);
  });

  it('accepts what the standard library signs', () => {
    const library = new Webhook(STANDARD_SECRET);
    const headers = {
      'webhook-id': 'msg_9',
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': `v1a,ignored ${library.sign('msg_9', new Date(NOW), BODY.toString())}`,
    };
    expect(verify(headers, BODY, STANDARD_SECRET)).toEqual({ valid: true, signature: 'standard' });
  });

  it('takes the headers of fetch too', () => {
    expect(verify(new Headers(signed(SECRET)), BODY, SECRET).valid).toBe(true);
  });

  it('accepts either of two secrets', () => {
    expect(verify(serviceOnly('old'), BODY, ['new', 'old']).valid).toBe(true);
    expect(verify(serviceOnly('other'), BODY, ['new', 'old']).valid).toBe(false);
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
    expect(verify(headers, BODY, SECRET)).toEqual({ valid: false, reason });
  });

  it('refuses JSON that was written again', () => {
    const again = JSON.stringify(JSON.parse(BODY.toString()), null, 2);
    expect(verify(signed(SECRET), again, SECRET).valid).toBe(false);
  });

  it.each([
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('with a tolerance of 300 s, %d s off is %s', (seconds, valid) => {
    const options = { toleranceSeconds: 300, now: (message.timestamp + seconds) * 1000 };
    const result = verify(signed(SECRET), BODY, SECRET, options);
    expect(result).toMatchObject(valid ? { valid } : { valid, reason: 'wrong-time' });
  });

  it('with a tolerance does not fall back to the signature that covers no time', () => {
    const options = { toleranceSeconds: 300, now: NOW };
    expect(verify(serviceOnly(SECRET), BODY, SECRET, options)).toMatchObject({ valid: false });
    const replayed = { ...signed(SECRET), 'webhook-timestamp': String(message.timestamp + 60) };
    expect(verify(replayed, BODY, SECRET, options)).toMatchObject({ valid: false });
    const renamed = { ...signed(SECRET), 'webhook-id': 'msg_2' };
    expect(verify(renamed, BODY, SECRET, options)).toMatchObject({ valid: false });
  });

  it.each([[''], [[]], [['good', '']]])('does not work with %j for a secret', (secret) => {
    expect(() => verify(signed(SECRET), BODY, secret)).toThrow(TypeError);
  });
});
