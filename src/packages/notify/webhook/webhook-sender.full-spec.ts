import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { NOW } from '../../../../test/fixtures/notification-fixture.js';
import type { ReceiverAnswer } from '../../../../test/fakes/webhook-receiver.js';
import type { WebhookSenderOptions } from './webhook.sender.js';
import {
  closeAll,
  deadUrl,
  deliverAll,
  deliveriesTo,
  oneTry,
  receiverThat,
  senderWith,
} from '../../../../test/fixtures/webhook-fixture.js';

afterEach(closeAll);

describe('An event that expires', () => {
  const expiringAt = (expiresAt: number, url: string) =>
    deliveriesTo({ url }).map((delivery) => ({ ...delivery, expiresAt }));

  it('is not sent after its expiry', async () => {
    const receiver = await receiverThat();
    const [delivery] = expiringAt(NOW, receiver.url);
    const result = await senderWith().attempt(delivery!);
    expect(result).toMatchObject({ state: 'failed', code: 'expired' });
    expect(receiver.received).toEqual([]);
  });

  it('is aborted at its expiry', async () => {
    const { url } = await receiverThat(() => 'silence');
    const [delivery] = expiringAt(NOW + 50, url);
    const sender = senderWith({ timeoutMs: 600_000 });
    expect(await sender.attempt(delivery!)).toMatchObject({ state: 'failed', code: 'timeout' });
  });
});

describe('An answer that names a message', () => {
  const attempt = async (body: string | null, options?: WebhookSenderOptions) => {
    const receiver = await receiverThat(() =>
      body === null ? 'endless-body' : { status: 200, body },
    );
    const [delivery] = deliveriesTo({ url: receiver.url, preset: 'discord' });
    return senderWith(options).attempt(delivery!);
  };

  it.each<[string, string, object]>([
    ['its id', '{"id":"1100"}', { messageId: '1100' }],
    ['no id', '{}', {}],
    ['no text', '{"id":7}', {}],
    ['a path', '{"id":"../7"}', {}],
    ['no JSON', 'thanks', {}],
  ])('counts as a delivery with %s', async (_name, body, named) => {
    expect(await attempt(body)).toEqual({ state: 'sent', ...named });
  });

  it('counts as a delivery although its body never ends', async () => {
    expect(await attempt(null)).toEqual({ state: 'sent' });
  });
});

describe('An answer', () => {
  it.each([200, 201, 202, 204, 299])('counts as a delivery with status %d', async (status) => {
    const { url } = await receiverThat(() => ({ status }));
    expect(await oneTry(url)).toEqual({ state: 'sent' });
  });

  it.each([408, 425, 429, 500, 502, 503, 504, 599])(
    'leads to another attempt with status %d',
    async (status) => {
      const receiver = await receiverThat((_request, count) => ({
        status: count < 3 ? status : 200,
      }));
      const [outcome] = await deliverAll(deliveriesTo({ url: receiver.url }));
      expect(outcome).toMatchObject({ state: 'sent', attempts: 3 });
      expect(receiver.received).toHaveLength(3);
    },
  );

  it.each([400, 401, 403, 404, 405, 410, 413, 415, 422, 451])(
    'fails at once with status %d',
    async (status) => {
      const receiver = await receiverThat(() => ({ status }));
      const [outcome] = await deliverAll(deliveriesTo({ url: receiver.url }));
      expect(outcome).toMatchObject({ state: 'failed', attempts: 1, code: `http-${status}` });
      expect(receiver.received).toHaveLength(1);
    },
  );

  it.each([300, 301, 302, 303, 307, 308])('is not followed with status %d', async (status) => {
    const elsewhere = await receiverThat();
    const headers = { location: elsewhere.url };
    const { url } = await receiverThat(() => ({ status, headers }));
    const [outcome] = await deliverAll(deliveriesTo({ url }));
    expect(outcome).toMatchObject({ state: 'failed', attempts: 1, code: 'redirect-refused' });
    expect(elsewhere.received).toEqual([]);
  });

  it('disables the channel on request, in success and in failure', async () => {
    const headers = { 'webhook-delivery': 'disable' };
    for (const [status, state] of [[200, 'sent'] as const, [503, 'failed'] as const]) {
      const receiver = await receiverThat(() => ({ status, headers }));
      const [outcome] = await deliverAll(deliveriesTo({ url: receiver.url }));
      expect(outcome).toMatchObject({ state, attempts: 1, directive: 'disable-channel' });
    }
  });

  it('aborts the message on request', async () => {
    const headers = { 'webhook-delivery': 'abort-message' };
    const receiver = await receiverThat(() => ({ status: 503, headers }));
    const [outcome] = await deliverAll(deliveriesTo({ url: receiver.url }));
    expect(outcome).toMatchObject({ state: 'failed', attempts: 1 });
    expect(outcome).not.toHaveProperty('directive');
  });

  it('delays the next attempt on request', async () => {
    const headers = { 'retry-after': '7' };
    const { url } = await receiverThat(() => ({ status: 503, headers }));
    expect(await oneTry(url)).toMatchObject({ isTemporary: true, retryAfterMs: 7_000 });
  });

  it('counts from its head on, and only a bounded part of its body is read', async () => {
    const receiver = await receiverThat(() => 'endless-body');
    expect(await oneTry(receiver.url, { timeoutMs: 120_000 })).toEqual({ state: 'sent' });
    await receiver.bodyRefused;
    expect(receiver.written).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('A missing answer', () => {
  it.each<[ReceiverAnswer, string, number]>([
    ['silence', 'timeout', 300],
    ['cut', 'connection-cut', 120_000],
    ['no-http', 'network-error', 120_000],
  ])('leads to another attempt after %s, as %s', async (answer, code, timeoutMs) => {
    const { url } = await receiverThat(() => answer);
    expect(await oneTry(url, { timeoutMs })).toMatchObject({ code, isTemporary: true });
  });

  it('leads to another attempt when the connection is refused', async () => {
    expect(await oneTry(await deadUrl())).toMatchObject({
      code: 'connection-refused',
      isTemporary: true,
    });
  });

  it('leads to another attempt when the host does not exist', async () => {
    const result = await oneTry('http://does-not-exist.invalid/');
    expect(result).toMatchObject({ code: 'host-not-found', isTemporary: true });
  });
});

describe('Many channels at one receiver', () => {
  it('shares 64 connections, and serves all channels', async () => {
    let [open, most] = [0, 0];
    const full: (() => void)[] = [];
    const receiver = await receiverThat(async () => {
      open += 1;
      most = Math.max(most, open);
      // The first requests wait for each other: as many run at once as there are connections.
      await new Promise<void>((answer) => {
        full.push(answer);
        if (full.length >= 64) {
          full.forEach((one) => one());
        }
      });
      open -= 1;
      return { status: 204 };
    });
    const channels = Array.from({ length: 200 }, (_, index) => ({
      id: `channel-${index}`,
      url: receiver.url,
    }));
    const outcomes = await deliverAll(deliveriesTo(...channels));
    expect(outcomes.filter(({ state }) => state === 'sent')).toHaveLength(200);
    expect(most).toBe(64);
  });
});

describe('Over https', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Root');
  const issued = (name: string) => authority.issue({ names: [name], usage: 'serverAuth' });
  const certificate = issued('IP:127.0.0.1');
  const other = issued('DNS:other.example');

  it('delivers to a certificate it trusts', async () => {
    const receiver = await receiverThat(undefined, certificate);
    expect(await oneTry(receiver.url, { ca: authority.cert })).toEqual({ state: 'sent' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['that no authority signed', {}],
    ['of another host', { ca: authority.cert }],
  ])('sends nothing to a certificate %s', async (_name, options) => {
    const receiver = await receiverThat(undefined, other);
    expect(await oneTry(receiver.url, options)).toMatchObject({ code: 'certificate-refused' });
    expect(receiver.received).toEqual([]);
  });
});
