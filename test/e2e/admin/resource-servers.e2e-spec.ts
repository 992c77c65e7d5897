import { call, logIn, makeDeviceKey, type Json } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { backends, backendToken, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';

const tokens = await AdminTokensFile.create();
const setup = backends([{ id: 'relay', name: 'The relay', claims: ['login'] }, { id: 'files' }]);
const server = await startServer({ env: { ...setup.env, ...tokens.env } });
const reader = new AdminCalls(await adminUrlOf(server), tokens.reader);
afterAll(() => server.stop());

describe('the backends in the administration API', () => {
  it('lists them with their rules, requests and keys, and with no secret', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    const credentials = basic('relay', setup.secretOf('relay'));
    await postForm(server, '/v1/oauth/introspect', { token }, credentials);
    const { status, body, text } = await reader.get('/resource-servers');
    expect(status).toBe(200);
    const [relay, files] = body['resourceServers'] as Json[];
    expect(relay).toEqual({
      ...{ id: 'relay', name: 'The relay', resource: 'https://relay.example.com' },
      ...{ requireProviders: [], allowKeyless: true, claims: ['login'] },
      ...{ maxTokenSeconds: 300, tokenAlg: 'ES256' },
      requests: [
        { request: 'exchange', outcome: 'ok', reason: '', count: 1 },
        { request: 'introspection', outcome: 'ok', reason: '', count: 1 },
      ],
      streams: [],
    });
    expect(files).toMatchObject({ id: 'files', name: 'files', requests: [] });
    // The keys are in the order of their milliseconds, which may be the same.
    const keys = body['keys'] as Json[];
    expect(keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256']);
    for (const { kid, signsFrom } of keys) {
      expect({ kid, signsFrom }).toEqual({
        kid: expect.any(String),
        signsFrom: expect.any(Number),
      });
    }
    expect(text).not.toContain(setup.secretOf('relay'));
    expect(text).not.toMatch(/private|secret|"d"/i);
  });

  it('lists the streams of each with their last poll and what they have not acknowledged', async () => {
    const behind = await EventStreamFixture.open(server, setup, 'files');
    await behind.take();
    const session = await tokenOf(server, makeDeviceKey());
    await backendToken(server, session, 'files');
    await call(server, 'POST', '/v1/auth/logout', { token: session });
    const other = await EventStreamFixture.open(server, setup, 'files');
    await other.take();
    const { body } = await reader.get('/resource-servers');
    const [relay, files] = body['resourceServers'] as Json[];
    expect(relay?.['streams']).toEqual([]);
    const streams = files?.['streams'] as Json[];
    const known = { description: null, isPaused: false, createdAt: expect.any(Number) };
    expect(streams).toEqual([
      {
        ...{ ...known, id: behind.id, waiting: 1, polledAt: expect.any(Number) },
        oldestWaitingSeconds: expect.any(Number),
      },
      { ...known, id: other.id, waiting: 0, polledAt: expect.any(Number), oldestWaitingSeconds: 0 },
    ]);
    expect(streams[0]?.['oldestWaitingSeconds']).toBeGreaterThan(0);
    expect(streams[1]?.['polledAt']).toBeGreaterThanOrEqual(Number(streams[1]?.['createdAt']));
  });

  it('names them in the policy, in the explanation of an account and in a plan', async () => {
    const { accountId } = await logIn(server);
    const policy = await reader.get('/policy');
    expect(policy.body['sentences']).toContain(
      'Sessions can get tokens for The relay (https://relay.example.com).',
    );
    const account = await reader.get(`/accounts/${accountId}`);
    expect(account.body['explain']).toMatchObject({
      resourceServers: [
        {
          id: 'relay',
          isAllowed: true,
          code: null,
          sentence: 'The relay: its sessions get tokens.',
        },
        { id: 'files', isAllowed: true },
      ],
    });
    const planned = await call(reader, 'POST', '/admin/v1/policy/plan', {
      token: tokens.reader,
      body: { environment: { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' } },
    });
    const { accounts, lose, resourceServers } = planned.body;
    expect(lose).toBe(accounts);
    expect(resourceServers).toEqual([
      { id: 'relay', lose, gain: 0, unknown: 0 },
      { id: 'files', lose, gain: 0, unknown: 0 },
    ]);
  });

  it('names them in discovery, without what authenticates them', async () => {
    const { body, text } = await call(server, 'GET', '/v1/features');
    expect((body['capabilities'] as Json)['resourceServers']).toEqual({
      relay: {
        displayName: 'The relay',
        resource: 'https://relay.example.com',
        requiredProviders: [],
        keylessAccounts: true,
      },
      files: expect.objectContaining({ resource: 'https://files.example.com' }),
    });
    expect(text).not.toContain('secret');
  });
});

it('lists no backend and no key where none is configured', async () => {
  const tokens = await AdminTokensFile.create();
  const server = await startServer({ env: tokens.env });
  try {
    const reader = new AdminCalls(await adminUrlOf(server), tokens.reader);
    const { body } = await reader.get('/resource-servers');
    expect(body).toEqual({ resourceServers: [], keys: [] });
    const features = await call(server, 'GET', '/v1/features');
    expect(features.body['capabilities']).not.toHaveProperty('resourceServers');
  } finally {
    await server.stop();
  }
});
