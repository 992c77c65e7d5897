import { createECDH } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import {
  formatWebPushToken,
  readWebPushMessage,
  readWebPushToken,
  webNotification,
  type WebPushKey,
} from '../../../src/packages/client/notifications/web-push.js';
import type { WebPushDelivery } from '../../../src/packages/notify/delivery/delivery.js';
import type { Senders } from '../../../src/packages/notify/delivery/attempt.js';
import { planNotification, renewDelivery } from '../../../src/packages/notify/delivery/plan.js';
import { resolutionOf } from '../../../src/packages/notify/delivery/resolution.js';
import { entryFor, readSpoolEntry } from '../../../src/apps/cli/spool/spool-entry.js';
import { notify } from '../../../src/packages/notify/notify.js';
import { readPreferences } from '../../../src/packages/notify/preferences.js';
import { maskedToken } from '../../../src/packages/notify/push/push-message.js';
import {
  WebPushSender,
  type WebPushSenderOptions,
} from '../../../src/packages/notify/push/web-push.sender.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { anEvent, aRequest, pushToken, SERVER_URL } from '../../fixtures/notification-fixture.js';
import { FakeWebPushService } from '../../fakes/web-push-service.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Root');
const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });

let service: FakeWebPushService;
let sender: WebPushSender;
beforeEach(async () => {
  service = await FakeWebPushService.start(certificate);
  sender = webPushSender();
});
afterEach(() => Promise.all([sender.close(), service.close()]));

const webPushSender = (options: WebPushSenderOptions = {}) =>
  new WebPushSender({
    ...{ ca: authority.cert, timeoutMs: 120_000, privateHosts: ['127.0.0.1'] },
    ...options,
  });

function aKey(): WebPushKey {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const privateKey = pair.getPrivateKey().toString('base64url').padStart(43, 'A');
  return { publicKey: pair.getPublicKey().toString('base64url'), privateKey };
}

const key = aKey();
const settings = { notificationsWebPushV1: { v: 1, ...key } };
const now = Date.now();
const event = (topic: Parameters<typeof anEvent>[0], fields: Record<string, unknown> = {}) =>
  anEvent(topic, { createdAt: now, ...fields });
const endpointOf = (token: string): string => readWebPushToken(token)?.endpoint ?? '';

/** These tests use no app and no webhook. */
const unused: Pick<Senders, 'push' | 'webhooks'> = {
  push: { attempt: () => Promise.reject(new Error('no app')) },
  webhooks: { attempt: () => Promise.reject(new Error('no webhook')) },
};

/** Returns the deliveries of a permission request to these tokens. */
function deliveriesTo(tokens: readonly string[], fields = {}): WebPushDelivery[] {
  const saved = tokens.map((token) => ({ token, clientServerUrl: null }));
  const subject = event('permission_request', fields);
  const plan = planNotification(subject, readPreferences(settings), saved, { now });
  return plan.deliveries.filter((delivery) => delivery.kind === 'web-push');
}

const deliveryTo = (token: string, fields = {}): WebPushDelivery =>
  deliveriesTo([token], fields)[0] as WebPushDelivery;

describe('A push token of a browser', () => {
  it('contains the subscription, without other fields of the browser', async () => {
    const { endpoint, keys } = await service.subscribe(key.publicKey);
    const token = formatWebPushToken({ endpoint, keys, expirationTime: 7, more: true }) ?? '';
    expect(token).toMatch(/^webpush:[\w-]+$/);
    expect(readWebPushToken(token)).toEqual({ endpoint, keys });
    expect(formatWebPushToken({ keys, endpoint })).toBe(token);
  });

  it.each<[string, (one: { endpoint: string; keys: Record<string, string> }) => unknown]>([
    ['without an endpoint', ({ keys }) => ({ keys })],
    ['over http', (one) => ({ ...one, endpoint: 'http://push.example/1' })],
    ['with a user name', (one) => ({ ...one, endpoint: 'https://a@push.example/1' })],
    ['with spaces', (one) => ({ ...one, endpoint: 'https://push.example/a b' })],
    ['of no address', (one) => ({ ...one, endpoint: 'push' })],
    ['too long', (one) => ({ ...one, endpoint: `https://push.example/${'x'.repeat(1000)}` })],
    ['without keys', ({ endpoint }) => ({ endpoint })],
    ['with a short secret', (one) => ({ ...one, keys: { ...one.keys, auth: 'AAAA' } })],
    ['with a short point', (one) => ({ ...one, keys: { ...one.keys, p256dh: 'A'.repeat(87) } })],
    ['that is missing', () => null],
  ])('is not created from a subscription %s', async (_name, change) => {
    const { endpoint, keys } = await service.subscribe(key.publicKey);
    expect(formatWebPushToken(change({ endpoint, keys }))).toBeNull();
  });

  it.each(['webpush:', 'webpush:!!', 'webpush:e30', 'webpush:AAAA', pushToken('a'), ''])(
    'is refused as %j',
    (token) => expect(readWebPushToken(token)).toBeNull(),
  );

  it('is shown as the push service and four characters', async () => {
    const token = await service.register(key.publicKey);
    expect(maskedToken(token)).toBe(`127.0.0.1 …${endpointOf(token).slice(-4)}`);
  });
});

describe('A message to a browser', () => {
  it('is replaced silently once its request was answered, regardless of the settings of the app', async () => {
    const asked = deliveryTo(await service.register(key.publicKey));
    const answered = resolutionOf(asked, now);
    const [before, after] = [asked, answered].map((one) =>
      readWebPushMessage(JSON.parse(one?.message.text ?? 'null')),
    );
    expect(answered).toMatchObject({ token: asked.token, message: { topic: asked.message.topic } });
    expect(after).toMatchObject({ title: 'Answered', tag: before?.tag });
    for (const isAppOpen of [true, false]) {
      const shown = after && webNotification(after, { isAppOpen, viewing: null });
      expect(shown).toMatchObject({ title: 'Answered', options: { silent: true } });
    }
  });

  it('is decrypted correctly, whatever its length', async () => {
    const names = Array.from({ length: 20 }, () => service.register(key.publicKey));
    const tokens = await Promise.all(names);
    const texts = Array.from(
      { length: 100 },
      (_value, index) => `${'é'.repeat(index * 20)}${index}`,
    );
    const results = await Promise.all(
      texts.map((command, index) => {
        const request = { ...aRequest({ command }), requestId: `req-${index}` };
        return sender.attempt(deliveryTo(tokens[index % 20] ?? '', { request }));
      }),
    );
    expect(results.filter(({ state }) => state === 'sent')).toHaveLength(100);
    const read = tokens.flatMap((token) => service.messagesOf(endpointOf(token)));
    const messages = read.map((text) => readWebPushMessage(JSON.parse(text)));
    const requests = new Set(messages.map((message) => message?.target.requestId));
    expect(requests).toEqual(new Set(texts.map((_text, index) => `req-${index}`)));
    const largest = Math.max(...service.received.map(({ size }) => size));
    expect([4094, 4095, 4096]).toContain(largest);
    expect(service.refusals).toEqual([]);
    const salts = service.received.map(({ body }) => body.subarray(0, 16).toString('hex'));
    expect(new Set(salts).size).toBe(100);
  });

  it('contains its text, the target of a click and the behaviour in the open app', async () => {
    const token = await service.register(key.publicKey);
    const behavior = { notificationsSettingsV1: { foregroundBehavior: 'silent' } };
    const request = aRequest({ command: 'npm test' });
    const { outcomes } = await notify(
      event('permission_request', { request }),
      { settings: { ...settings, ...behavior }, tokens: [{ token, clientServerUrl: null }] },
      { ...unused, webPush: sender },
    );
    expect(outcomes).toMatchObject([
      { state: 'no-target' },
      { state: 'sent', target: { kind: 'push', id: token } },
    ]);
    const [text = ''] = service.messagesOf(endpointOf(token));
    expect(readWebPushMessage(JSON.parse(text))).toEqual({
      title: expect.stringContaining('Fix the build'),
      body: expect.stringContaining('npm test'),
      tag: expect.stringMatching(/^[\w-]{43}$/),
      createdAt: now,
      foregroundBehavior: 'silent',
      target: {
        topic: 'permission_request',
        serverUrl: SERVER_URL,
        sessionId: 'ses-1',
        requestId: 'req-1',
        eventId: 'evt-1',
      },
    });
  });

  it('has topic, urgency and the remaining time of its event, signed by the account', async () => {
    const token = await service.register(key.publicKey);
    await sender.attempt(deliveryTo(token));
    const late = webPushSender({ now: () => now + 1_790_000 });
    await late.attempt(deliveryTo(token));
    await late.close();
    const ready = planNotification(
      event('ready'),
      readPreferences(settings),
      [{ token, clientServerUrl: null }],
      { now },
    ).deliveries.find(({ kind }) => kind === 'web-push');
    await sender.attempt(ready as WebPushDelivery);
    const [first, second, third] = service.received;
    expect(first).toMatchObject({ ttl: expect.any(Number), urgency: 'high' });
    expect(first?.ttl).toBeGreaterThan(0);
    expect(first?.ttl).toBeLessThanOrEqual(1800);
    expect(first?.topic).toMatch(/^[\w-]{32}$/);
    expect(second).toMatchObject({ ttl: 10, topic: first?.topic });
    expect(third).toMatchObject({ urgency: 'normal' });
    expect(third?.topic).not.toBe(first?.topic);
    expect(first?.claims).toEqual({
      aud: service.origin,
      sub: SERVER_URL,
      exp: expect.any(Number),
    });
    // One signature is used until it is about to expire.
    expect(third?.claims.exp).toBe(first?.claims.exp);
  });

  it.each([
    ['http://192.168.1.7:3000', {}, 'mailto:postmaster@192.168.1.7'],
    ['https://gate.example/sub', {}, 'https://gate.example'],
    [SERVER_URL, { contact: 'mailto:ops@acme.example' }, 'mailto:ops@acme.example'],
  ])('names a contact for %s', async (clientServerUrl, options, contact) => {
    const token = await service.register(key.publicKey);
    const saved = [{ token, clientServerUrl }];
    const plan = planNotification(event('ready'), readPreferences(settings), saved, { now });
    const own = webPushSender(options);
    await own.attempt(plan.deliveries[0] as WebPushDelivery);
    await own.close();
    expect(service.received[0]?.claims.sub).toBe(contact);
  });

  it('is not sent without a key in the settings, nor to a damaged token', async () => {
    const token = await service.register(key.publicKey);
    const saved = [token, 'webpush:e30'].map((one) => ({ token: one, clientServerUrl: null }));
    const keyless = planNotification(event('ready'), readPreferences({}), saved, { now });
    expect(keyless.deliveries).toEqual([]);
    expect(keyless.outcomes.slice(0, 2)).toMatchObject([
      { state: 'failed', code: 'no-web-push-key' },
      { state: 'failed', code: 'malformed-token' },
    ]);
  });

  it.each([
    { v: 2, ...key },
    { v: 1, publicKey: key.publicKey },
    { v: 1, ...key, publicKey: 'A' },
    7,
  ])('is not sent with a broken key, and that is reported', (broken) => {
    const { webPushKey, problems } = readPreferences({ notificationsWebPushV1: broken });
    expect(webPushKey).toBeNull();
    expect(problems).toEqual([
      { path: 'notificationsWebPushV1', message: expect.stringContaining('no browser') },
    ]);
    expect(JSON.stringify(problems)).not.toContain(key.privateKey);
  });

  it('is one outcome where the sender does not support browsers', async () => {
    const token = await service.register(key.publicKey);
    const account = { settings, tokens: [{ token, clientServerUrl: null }] };
    const { outcomes } = await notify(event('ready'), account, unused);
    expect(outcomes[1]).toMatchObject({ state: 'failed', code: 'web-push-unavailable' });
  });
});

describe('A message that waits on disk', () => {
  it('contains no private key, and is sent with the current one', async () => {
    const token = await service.register(key.publicKey);
    const account = { server: SERVER_URL, accountId: 'a', settingsFile: null };
    const entry = entryFor(deliveryTo(token), account, true);
    expect(JSON.stringify(entry)).not.toContain(key.privateKey);
    const read = readSpoolEntry(JSON.parse(JSON.stringify(entry)));
    expect(read).toEqual(entry);
    const tokens = [{ token, clientServerUrl: null }];
    const renewed = renewDelivery(entry.delivery, readPreferences(settings), tokens);
    expect(await sender.attempt(renewed as WebPushDelivery)).toEqual({ state: 'sent' });
    const without = (fields: object, saved = tokens) =>
      renewDelivery(entry.delivery, readPreferences(fields), saved);
    expect(without({})).toMatchObject({ code: 'no-web-push-key' });
    expect(without(settings, [])).toMatchObject({ code: 'device-gone' });
    const off = { ...settings, notificationsSettingsV1: { pushEnabled: false } };
    expect(without(off)).toMatchObject({ code: 'switched-off' });
    const unasked = { ...settings, notificationsSettingsV1: { permissionRequest: false } };
    expect(without(unasked)).toMatchObject({ code: 'switched-off' });
  });
});

describe('A push service of a browser', () => {
  it.each([404, 410])('ends the subscription when it answers %d', async (status) => {
    service.faults.push({ status });
    const result = await sender.attempt(deliveryTo(await service.register(key.publicKey)));
    expect(result).toMatchObject({
      state: 'failed',
      code: 'device-not-registered',
      isTemporary: false,
      directive: 'delete-token',
    });
  });

  it('reports the end of the subscription of a browser that unsubscribed', async () => {
    const token = await service.register(key.publicKey);
    service.expire(endpointOf(token));
    const result = await sender.attempt(deliveryTo(token));
    expect(result).toMatchObject({ code: 'device-not-registered', directive: 'delete-token' });
  });

  it.each([
    [401, 'web-push-refused', false],
    [403, 'web-push-refused', false],
    [301, 'push-http-301', false],
    [429, 'push-http-429', true],
    [500, 'push-http-500', true],
    [503, 'push-http-503', true],
  ])('is reported on %d as %s', async (status, code, isTemporary) => {
    const headers = { 'retry-after': '7', location: service.origin };
    service.faults.push({ status, headers });
    const result = await sender.attempt(deliveryTo(await service.register(key.publicKey)));
    expect(result).toMatchObject({ state: 'failed', code, isTemporary });
    expect('directive' in result).toBe(false);
    if (isTemporary) {
      expect(result).toMatchObject({ retryAfterMs: 7000 });
    }
    expect(service.received).toEqual([]);
  });

  it('reports the reason of a refusal', async () => {
    service.faults.push({ status: 403, body: '{"reason":"BadJwtToken"}' });
    const result = await sender.attempt(deliveryTo(await service.register(key.publicKey)));
    expect(result).toMatchObject({ code: 'web-push-signature', isTemporary: false });
  });

  it('receives the generic text when a message was too large', async () => {
    const token = await service.register(key.publicKey);
    const request = aRequest({ command: 'npm test' });
    service.faults.push({ status: 413 });
    expect(await sender.attempt(deliveryTo(token, { request }))).toEqual({ state: 'sent' });
    const [text = '', ...more] = service.messagesOf(endpointOf(token));
    expect([more, text.includes('npm test')]).toEqual([[], false]);
    expect(readWebPushMessage(JSON.parse(text))?.target.requestId).toBe('req-1');
    service.faults.push({ status: 413 }, { status: 413 });
    expect(await sender.attempt(deliveryTo(token, { request }))).toMatchObject({
      code: 'message-too-big',
      isTemporary: false,
    });
  });

  it('refuses a key that the browser did not subscribe with, and the token is kept', async () => {
    const result = await sender.attempt(deliveryTo(await service.register(aKey().publicKey)));
    expect(result).toMatchObject({ code: 'web-push-refused', isTemporary: false });
    expect('directive' in result).toBe(false);
  });

  it('is refused on a private address that the sender does not permit', async () => {
    const strict = webPushSender({ privateHosts: [] });
    const result = await strict.attempt(deliveryTo(await service.register(key.publicKey)));
    expect(result).toMatchObject({ code: 'destination-refused', isTemporary: false });
    const { keys } = await service.subscribe(key.publicKey);
    const named = formatWebPushToken({ endpoint: 'https://push.example/1', keys }) ?? '';
    const rebinding = webPushSender({
      resolve: (_name, done) => done(null, [{ address: '169.254.169.254', family: 4 }]),
    });
    expect(await rebinding.attempt(deliveryTo(named))).toMatchObject({
      code: 'destination-refused',
    });
    await Promise.all([strict.close(), rebinding.close()]);
    expect([service.received, service.refusals]).toEqual([[], []]);
  });

  it('receives nothing of an expired event', async () => {
    const delivery = deliveryTo(await service.register(key.publicKey));
    const result = await sender.attempt({ ...delivery, expiresAt: now });
    expect(result).toMatchObject({ state: 'failed', code: 'expired' });
    expect(service.received).toEqual([]);
  });

  it('is called again when it was unavailable', async () => {
    const token = await service.register(key.publicKey);
    await service.close();
    expect(await sender.attempt(deliveryTo(token))).toMatchObject({
      code: 'push-unreachable',
      isTemporary: true,
    });
    service = await FakeWebPushService.start(certificate);
  });

  it('is called again when something else answered for it', async () => {
    const page = createServer(certificate, (socket) => {
      socket.once('data', () => socket.end('<html>'));
    }).listen(0, '127.0.0.1');
    await once(page, 'listening');
    const endpoint = `https://127.0.0.1:${(page.address() as AddressInfo).port}/1`;
    const { keys } = await service.subscribe(key.publicKey);
    const result = await sender.attempt(deliveryTo(formatWebPushToken({ endpoint, keys }) ?? ''));
    expect(result).toMatchObject({ code: 'push-unreachable', isTemporary: true });
    page.close();
  });

  it('receives nothing when its certificate is not trusted', async () => {
    const trusting = new WebPushSender({ privateHosts: ['127.0.0.1'] });
    const result = await trusting.attempt(deliveryTo(await service.register(key.publicKey)));
    expect(result).toMatchObject({ state: 'failed', code: 'push-unreachable' });
    await trusting.close();
    expect(service.received).toEqual([]);
  });
});
