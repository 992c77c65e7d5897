import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWebPushToken } from '../../../src/packages/client/notifications/web-push.js';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import {
  ensureWebPushKey,
  generateWebPushKey,
} from '../../../src/packages/client/notifications/web-push-key.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { FakeWebPushService } from '../../fakes/web-push-service.js';
import { logIn } from '../../helpers/client.js';
import { Notifying, startPlainServer, type EventLine } from '../../fixtures/notify-fixture.js';

const READY = ['ready', '--session', 's1', '--message', 'the last words'];

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Root');
const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
let service: FakeWebPushService;
let fixture: Notifying;
let permitted: string;
let token: string;

const server = await startPlainServer();
afterAll(() => server.stop());
beforeEach(async () => {
  permitted = '127.0.0.1';
  [service, fixture] = await Promise.all([
    FakeWebPushService.start(certificate),
    Notifying.start(server),
  ]);
  const { publicKey, privateKey } = await generateWebPushKey();
  const settings = join(fixture.user.home, 'settings.json');
  const key = { v: 1, publicKey, privateKey };
  writeFileSync(settings, JSON.stringify({ notificationsWebPushV1: key }));
  token = await service.register(publicKey);
  await fixture.ok('tokens', 'add', token, '--name', 'My browser');
});
afterEach(() => Promise.all([fixture.stop(), service.close()]));

async function send(code: number, ...args: readonly string[]) {
  const settings = join(fixture.user.home, 'settings.json');
  const flags = ['--settings-file', settings, '--no-background', '--json'];
  const env = {
    ...fixture.env,
    NODE_EXTRA_CA_CERTS: authority.certPath,
    GATEHOUSE_PRIVATE_HOSTS: permitted,
  };
  const { stdout, stderr, ...result } = await fixture.user.run(['notify', ...args, ...flags], env);
  expect({ code: result.code, stderr }).toMatchObject({ code });
  const [line = '{}'] = stdout.split('\n');
  const { outcomes } = JSON.parse(line) as EventLine;
  return { outcome: outcomes.find(({ target }) => target.kind === 'push'), stdout, stderr };
}

const messages = () => service.messagesOf(readWebPushToken(token)?.endpoint ?? '');
const saved = () => fixture.ok('tokens', 'list');

describe('the Web Push key of an account', () => {
  it('is created once by 50 simultaneous devices, and keeps the other settings', async () => {
    const { token: bearer } = await logIn(server);
    const { settings } = new GatehouseClient({ serverUrl: server.url, token: bearer });
    await settings.write({ t: 'plain', v: { other: 7 } }, 0);
    const devices = Array.from({ length: 50 }, () => ensureWebPushKey({ settings }, null));
    const [publicKey, ...more] = [...new Set(await Promise.all(devices))];
    expect(more).toEqual([]);
    const { content, version } = await settings.read();
    expect(version).toBe(2);
    expect(content).toMatchObject({ v: { other: 7, notificationsWebPushV1: { v: 1, publicKey } } });
  });

  it('stays unchanged in the format of a later version', async () => {
    const { token: bearer } = await logIn(server);
    const { settings } = new GatehouseClient({ serverUrl: server.url, token: bearer });
    const v = { notificationsWebPushV1: { v: 2, more: true } };
    await settings.write({ t: 'plain', v }, 0);
    await expect(ensureWebPushKey({ settings }, null)).rejects.toThrow('cannot read');
    expect(await settings.read()).toEqual({ content: { t: 'plain', v }, version: 1 });
  });
});

describe('gatehouse notify, to a browser', () => {
  it('connects to no push service in its own network that it does not permit', async () => {
    permitted = '10.0.0.0/8';
    const { outcome } = await send(1, 'ready', '--session', 's1');
    expect(outcome).toMatchObject({ state: 'failed', code: 'destination-refused' });
    expect([service.received, service.refusals]).toEqual([[], []]);
  });

  it('encrypts for the browser, and prints neither its token nor the key', async () => {
    const { outcome, stdout, stderr } = await send(0, ...READY);
    expect(outcome).toMatchObject({ state: 'sent', target: { kind: 'push' } });
    expect(outcome?.target.id).toMatch(/^127\.0\.0\.1 ….{4}$/);
    expect(`${stdout}${stderr}`).not.toContain('webpush:');
    expect(messages()).toEqual([expect.stringContaining('"sessionId":"s1"')]);
    const list = await fixture.ok<{ kind: string; target: string }>('deliveries', 'list');
    expect(list).toMatchObject([{ kind: 'web-push', target: outcome?.target.id }]);
  });

  it('sends a test to one token, by its id', async () => {
    const [{ id } = { id: '' }] = await fixture.ok<{ id: string }>('tokens', 'list');
    const settings = ['--settings-file', join(fixture.user.home, 'settings.json')];
    const env = { ...fixture.env, NODE_EXTRA_CA_CERTS: authority.certPath };
    const test = (wanted: string, ...more: readonly string[]) =>
      fixture.user.run(['tokens', 'test', wanted, ...settings, ...more, '--json'], env);
    const { code, stdout } = await test(id);
    expect({ code, line: JSON.parse(stdout) }).toMatchObject({ code: 0, line: { state: 'sent' } });
    expect(stdout).not.toContain('webpush:');
    expect(messages()).toEqual([expect.stringContaining('"sessionId":"gatehouse-test"')]);
    const refused = await test(id, '--deny-private');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('destination') });
    const unknown = await test('3f1c2a44-8f0e-4c53-9d1e-0a6b6f3f2b11');
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'not-found' } });
    expect(messages()).toHaveLength(1);
  });

  it('removes the token of a browser that unsubscribed', async () => {
    service.expire(readWebPushToken(token)?.endpoint ?? '');
    const { outcome, stderr } = await send(1, ...READY);
    expect(outcome).toMatchObject({ state: 'failed', code: 'device-not-registered' });
    expect(stderr).toContain('Removed the push token 127.0.0.1 …');
    expect(await saved()).toEqual([]);
  });

  it('retries from the spool, with the key of the settings', async () => {
    service.faults.push({ status: 503 });
    const { outcome } = await send(1, ...READY);
    expect(outcome).toMatchObject({ state: 'waiting', code: 'push-http-503' });
    const env = { ...fixture.env, NODE_EXTRA_CA_CERTS: authority.certPath };
    const { code } = await fixture.user.run(['notify', 'flush', '--wait', '--json'], env);
    expect(code).toBe(0);
    expect(messages()).toHaveLength(1);
  });
});
