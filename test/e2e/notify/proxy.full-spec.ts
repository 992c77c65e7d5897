import { HttpProxy } from '../../helpers/http-proxy.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { WebhookReceiver } from '../../fakes/webhook-receiver.js';
import { WebhookSender } from '../../../src/packages/notify/webhook/webhook.sender.js';
import { deliveriesTo } from '../../fixtures/webhook-fixture.js';
import { NOW } from '../../fixtures/notification-fixture.js';
import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const READY = ['notify', 'ready', '--session', 's', '--no-background'];

let proxy: HttpProxy;

const server = await startPlainServer();
const fixture = await Notifying.start(server);
await fixture.registerToken('ExponentPushToken[proxy]');

afterAll(async () => {
  await fixture.stop();
  await server.stop();
});

beforeEach(async () => {
  proxy = await HttpProxy.start();
});

afterEach(() => proxy.close());

const hostOf = (url: string): string => new URL(url).host;
const run = (env: Record<string, string>, ...args: string[]) =>
  fixture.user.run([...READY, ...args], { ...fixture.env, ...env });

describe('an HTTP proxy from the environment', () => {
  it('carries requests to the server, the push service and webhooks', async () => {
    const receiver = await fixture.webhook('hook');
    expect(await run({ HTTP_PROXY: proxy.url })).toMatchObject({ code: 0 });
    expect(new Set(proxy.requests)).toEqual(
      new Set([server.url, fixture.push.url, receiver.url].map(hostOf)),
    );
    expect(receiver.received).toHaveLength(1);
    const before = proxy.requests.length;
    const direct = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
    expect(await run(direct)).toMatchObject({ code: 0 });
    expect(proxy.requests).toHaveLength(before);
    expect(receiver.received).toHaveLength(2);
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['no host is permitted', { GATEHOUSE_PRIVATE_HOSTS: '' }, []],
    ['another host is permitted', { GATEHOUSE_PRIVATE_HOSTS: '127.0.0.2 ntfy.lan' }, []],
    ['it is permitted, but not for this event', {}, ['--deny-private']],
  ])('does not carry a webhook of this computer where %s', async (_case, variable, options) => {
    const receiver = await fixture.webhook('guarded');
    for (const way of [proxy.url, '']) {
      const sent = await run({ HTTP_PROXY: way, ...variable }, ...options);
      const refused = expect.stringMatching(
        /webhook guarded {2}failed: .*not on the public internet.*GATEHOUSE_PRIVATE_HOSTS/,
      ) as unknown;
      expect(sent).toMatchObject({ code: 1, stdout: refused });
    }
    expect(receiver.received).toEqual([]);
    expect(proxy.requests).not.toContain(hostOf(receiver.url));
    await fixture.ok('channels', 'remove', 'guarded');
  });

  it('tunnels https to hosts whose authority is in NODE_EXTRA_CA_CERTS', async () => {
    const directory = certificateDirectory();
    const authority = TestAuthority.root(directory, 'Root');
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const receiver = await WebhookReceiver.start(undefined, certificate);
    try {
      await fixture.ok('channels', 'add', receiver.url, '--id', 'private');
      const given = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority.certPath };
      expect(await run(given)).toMatchObject({ code: 0 });
      expect(proxy.requests).toContain(hostOf(receiver.url));
      expect(receiver.received).toHaveLength(1);
      await fixture.ok('channels', 'remove', 'private');
    } finally {
      await receiver.close();
    }
  });

  it('tunnels https, so that the certificate of the webhook is verified', async () => {
    const directory = certificateDirectory();
    const authority = TestAuthority.root(directory, 'Root');
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const receiver = await WebhookReceiver.start(undefined, certificate);
    const before = { ...process.env };
    process.env['HTTPS_PROXY'] = proxy.url;
    const options = { now: () => NOW, timeoutMs: 120_000, privateHosts: ['127.0.0.1'] };
    const sender = new WebhookSender({ ...options, ca: authority.cert });
    const strict = new WebhookSender(options);
    process.env = before;
    try {
      const [delivery] = deliveriesTo({ url: receiver.url });
      expect(await sender.attempt(delivery!)).toEqual({ state: 'sent' });
      expect(proxy.requests).toEqual([hostOf(receiver.url)]);
      expect(await strict.attempt(delivery!)).toMatchObject({ code: 'certificate-refused' });
      expect(receiver.received).toHaveLength(1);
    } finally {
      await Promise.all([sender.close(), strict.close(), receiver.close()]);
    }
  });
});
