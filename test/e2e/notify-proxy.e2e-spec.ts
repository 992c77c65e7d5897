import { HttpProxy } from '../fakes/http-proxy.js';
import { certificateDirectory, TestAuthority } from '../fakes/certificates.js';
import { WebhookReceiver } from '../fakes/webhook-receiver.js';
import { WebhookSender } from '../../src/notify/webhook/webhook.sender.js';
import { deliveriesTo } from '../fakes/webhook-world.js';
import { NOW } from '../fakes/webhook-account.js';
import type { Server } from '../helpers/server.js';
import { Notifying, startPlainServer } from './notify-world.js';

const READY = ['notify', 'ready', '--session', 's', '--no-background'];

let server: Server;
let world: Notifying;
let proxy: HttpProxy;

beforeAll(async () => {
  server = await startPlainServer();
  world = await Notifying.start(server);
  await world.registerToken('ExponentPushToken[proxy]');
});

afterAll(async () => {
  await world.stop();
  await server.stop();
});

beforeEach(async () => {
  proxy = await HttpProxy.start();
});

afterEach(() => proxy.close());

const hostOf = (url: string): string => new URL(url).host;
const run = (env: Record<string, string>, ...args: string[]) =>
  world.user.run([...READY, ...args], { ...world.env, ...env });

describe('a proxy of the environment', () => {
  it('carries what goes to the server, the push service and webhooks', async () => {
    const receiver = await world.webhook('hook');
    expect(await run({ HTTP_PROXY: proxy.url })).toMatchObject({ code: 0 });
    expect(new Set(proxy.asked)).toEqual(
      new Set([server.url, world.push.url, receiver.url].map(hostOf)),
    );
    expect(receiver.received).toHaveLength(1);
    const asked = proxy.asked.length;
    const direct = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
    expect(await run(direct)).toMatchObject({ code: 0 });
    expect(proxy.asked).toHaveLength(asked);
    expect(receiver.received).toHaveLength(2);
  });

  it('opens no way past the guard of addresses', async () => {
    const [hook] = (await world.webhook('guarded')).url.split('/hook');
    const sent = await run({ HTTP_PROXY: proxy.url }, '--deny-private');
    expect(sent).toMatchObject({ code: 1, stdout: expect.stringContaining('public internet') });
    expect(proxy.asked).not.toContain(hostOf(hook ?? ''));
  });

  it('is a tunnel for https to hosts whose authority NODE_EXTRA_CA_CERTS adds', async () => {
    const directory = certificateDirectory();
    const authority = TestAuthority.root(directory.path, 'Root');
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const receiver = await WebhookReceiver.start(undefined, certificate);
    try {
      await world.ok('channels', 'add', receiver.url, '--id', 'private');
      const given = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority.certPath };
      expect(await run(given)).toMatchObject({ code: 0 });
      expect(proxy.asked).toContain(hostOf(receiver.url));
      expect(receiver.received).toHaveLength(1);
      await world.ok('channels', 'remove', 'private');
    } finally {
      await receiver.close();
      directory.remove();
    }
  });

  it('is a tunnel for https: the certificate is that of the webhook', async () => {
    const directory = certificateDirectory();
    const authority = TestAuthority.root(directory.path, 'Root');
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const receiver = await WebhookReceiver.start(undefined, certificate);
    const before = { ...process.env };
    process.env['HTTPS_PROXY'] = proxy.url;
    const sender = new WebhookSender({ now: () => NOW, ca: authority.cert, timeoutMs: 120_000 });
    const strict = new WebhookSender({ now: () => NOW, timeoutMs: 120_000 });
    process.env = before;
    try {
      const [delivery] = deliveriesTo({ url: receiver.url });
      expect(await sender.attempt(delivery!)).toEqual({ state: 'sent' });
      expect(proxy.asked).toEqual([hostOf(receiver.url)]);
      expect(await strict.attempt(delivery!)).toMatchObject({ code: 'certificate-refused' });
      expect(receiver.received).toHaveLength(1);
    } finally {
      await Promise.all([sender.close(), strict.close(), receiver.close()]);
      directory.remove();
    }
  });
});
