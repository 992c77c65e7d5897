import { createHash } from 'node:crypto';
import { GatehouseClient } from '../api/api-client.js';
import type { Fetch } from '../api/api-client-transport.js';
import { requestKeys } from '../crypto/request-keys.js';
import type { DeviceServers, NotificationTarget } from '../notifications/notification-routing.js';
import { AccountRequests, makeRequestId, type SealedRequest } from './account-requests.js';
import { answerFromNotification, registerPushToken } from './answer-from-notification.js';
import { openRequests } from './answer-request.js';
import { judgeAnswers } from './judge-answers.js';

const SERVER = 'https://gate.example';
const ACCOUNT = 'account-1';
const NOW = Date.now();
const REQUESTS = new AccountRequests(
  requestKeys(createHash('sha256').update('secret').digest()),
  ACCOUNT,
);

const ask = async (server = SERVER): Promise<SealedRequest> => {
  const asked = await REQUESTS.seal({
    ...{ v: 1, requestId: makeRequestId(), kind: 'permission', server, account: ACCOUNT },
    session: { id: 's1', title: 'Fix' },
    tool: { name: 'Bash', input: { command: 'npm test' } },
    ...{ cwd: '/srv', host: 'laptop', askedAt: NOW, expiresAt: NOW + 60_000 },
  });
  return asked ?? Promise.reject(new Error('the request is too large'));
};

/** A server with this content of a request; `sent` has the bodies of what a client posts. */
function serverWith(asked: SealedRequest, content: object = { sealed: asked.sealed }) {
  const sent: Record<string, unknown>[] = [];
  const { requestId: id, expiresAt } = asked.request;
  const facts = { id, createdAt: NOW, expiresAt, sessionId: 'computer' };
  const fetch: Fetch = (url, { method, body }) => {
    if (method !== 'GET') {
      sent.push(JSON.parse(body ?? '{}') as Record<string, unknown>);
    }
    const one = { ...facts, state: 'open', answers: [], ...content };
    const list = { requests: [{ ...facts, answers: 0 }] };
    const read = url.endsWith('/v1/requests') ? list : one;
    return Promise.resolve({
      ...{ status: 200, ok: true, type: 'basic', headers: { get: () => null } },
      text: () => Promise.resolve(JSON.stringify(method === 'GET' ? read : { success: true })),
    });
  };
  return { client: new GatehouseClient({ serverUrl: SERVER, token: 't', fetch }), sent };
}

const target = ({ request: { requestId } }: SealedRequest): NotificationTarget => ({
  ...{ topic: 'permission_request', serverUrl: SERVER, sessionId: 's1', requestId, eventId: null },
});
const KNOWN = { active: SERVER, saved: [] };
const UNKNOWN = { active: 'https://other.example', saved: [] };

describe(answerFromNotification.name, () => {
  it.each([
    ['the active one', KNOWN],
    ['a saved one', { active: 'https://other.example', saved: [SERVER] }],
  ])('denies with a signature where the server is %s', async (_title, device) => {
    const asked = await ask();
    const { client, sent } = serverWith(asked);
    const account = () => Promise.resolve({ client, requests: REQUESTS });
    const answer = await answerFromNotification('deny', target(asked), device, account);
    expect(answer).toEqual({ step: 'denied', isSigned: true });
    const sealed = String(sent[0]?.['sealed']);
    const time = { now: NOW, elapsedMs: 0 };
    const { decision } = await judgeAnswers(REQUESTS, asked, [{ sealed, session: 'p' }], time);
    expect(decision).toMatchObject({ choice: 'deny', isSigned: true });
  });

  it('sends nothing to a server that the device does not know, and opens the way to add it', async () => {
    const asked = await ask();
    const { client, sent } = serverWith(asked);
    const account = () => Promise.resolve({ client, requests: REQUESTS });
    const answer = await answerFromNotification('deny', target(asked), UNKNOWN, account);
    expect(answer).toMatchObject({ step: 'open', route: { step: 'add-server' } });
    expect(sent).toEqual([]);
  });

  it.each(['allow', null] as const)(
    'opens the request, and does not answer: %s',
    async (pressed) => {
      const asked = await ask();
      const { client, sent } = serverWith(asked);
      const account = () => Promise.resolve({ client, requests: REQUESTS });
      const answer = await answerFromNotification(pressed, target(asked), KNOWN, account);
      expect(answer).toMatchObject({ step: 'open', route: { step: 'open' } });
      expect(sent).toEqual([]);
    },
  );

  const displayed = {
    title: 'Permission needed: Fix',
    subtitle: 'Bash',
    body: 'Bash needs your permission: npm test',
    isAuthenticated: true,
  };
  const allow = async (device: DeviceServers, content?: object, changes: object = {}) => {
    const asked = await ask();
    const { client, sent } = serverWith(asked, content);
    const account = () => Promise.resolve({ client, requests: REQUESTS });
    const shown = { ...displayed, ...changes };
    const pushed = { ...target(asked), digest: asked.digest };
    const answer = await answerFromNotification('allow', pushed, device, account, shown);
    return { answer, sent, asked };
  };

  it.each([
    ['the active one', KNOWN],
    ['a saved one', { active: 'https://other.example', saved: [SERVER] }],
  ])('allows what the notification showed whole where the server is %s', async (_title, device) => {
    const { answer, sent, asked } = await allow(device);
    expect(answer).toEqual({ step: 'allowed' });
    const sealed = String(sent[0]?.['sealed']);
    const time = { now: NOW, elapsedMs: 0 };
    const { decision } = await judgeAnswers(REQUESTS, asked, [{ sealed, session: 'p' }], time);
    expect(decision).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('allows nothing of another text, of a closed request, or of an unknown server', async () => {
    const text = await allow(KNOWN, undefined, { body: 'Bash needs your permission: ls' });
    expect(text.answer).toMatchObject({ step: 'open', why: 'other-text' });
    const closed = await allow(KNOWN, { state: 'withdrawn' });
    expect(closed.answer).toMatchObject({ step: 'open', why: 'other-request' });
    const unknown = await allow(UNKNOWN);
    expect(unknown.answer).toMatchObject({ step: 'open', route: { step: 'add-server' } });
    expect([text.sent, closed.sent, unknown.sent]).toEqual([[], [], []]);
  });

  it('denies without a signature where the device has no key', async () => {
    const asked = await ask();
    const { client, sent } = serverWith(asked);
    const account = () => Promise.resolve({ client, requests: null });
    const answer = await answerFromNotification('deny', target(asked), KNOWN, account);
    expect(answer).toEqual({ step: 'denied', isSigned: false });
    expect(sent).toEqual([{ deny: true }]);
  });
});

describe(openRequests.name, () => {
  const open = async (asked: SealedRequest, content?: object, requests = REQUESTS) => {
    const { client } = serverWith(asked, content);
    const isKnownServer = (url: string): boolean => url === SERVER;
    const [found] = await openRequests(client.requests, { requests, isKnownServer });
    return found;
  };

  it('opens a request of a known server', async () => {
    const asked = await ask();
    expect(await open(asked)).toMatchObject({ kind: 'opened', digest: asked.digest });
  });

  it('opens no unsealed content on a device with a key, whatever the server sends', async () => {
    const asked = await ask();
    const found = await open(asked, { content: asked.request });
    expect(found).toMatchObject({ kind: 'refused', refusal: 'not-authentic' });
  });

  it('opens no request of another server', async () => {
    const found = await open(await ask('https://evil.example'));
    expect(found).toMatchObject({ kind: 'other-server', server: 'https://evil.example' });
  });

  it('opens no request under the id of another one', async () => {
    const found = await open(await ask(), { sealed: (await ask()).sealed });
    expect(found).toMatchObject({ kind: 'refused', refusal: 'not-authentic' });
  });

  it('begins with the newest request', async () => {
    const { client } = serverWith(await ask());
    const [summary] = await client.requests.list();
    const ids = ['older', 'newer'].map((name) => name.padEnd(22, 'x'));
    const list = () => Promise.resolve(ids.map((id) => ({ ...summary!, id })));
    const read = async (id: string) => ({ ...(await client.requests.read(summary!.id)), id });
    const options = { requests: REQUESTS, isKnownServer: () => true };
    const opened = await openRequests({ list, read }, options);
    expect(opened.map(({ stored }) => stored?.id)).toEqual(ids.reverse());
  });

  it('leaves out what is no longer open', async () => {
    expect(await open(await ask(), { state: 'withdrawn' })).toBeUndefined();
  });
});

describe(registerPushToken.name, () => {
  const saved = async (build: Parameters<typeof registerPushToken>[2]) => {
    const tokens: string[] = [];
    const client = new GatehouseClient({ serverUrl: SERVER });
    client.savePushToken = (token: string) => {
      tokens.push(token);
      return Promise.resolve();
    };
    return [await registerPushToken(client, 'token', build), tokens];
  };

  it('saves no token of a development build, unless its variable is set', async () => {
    const variables = { CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION: '1' };
    expect(await saved({ isDevelopmentBuild: true, variables: {} })).toEqual([false, []]);
    expect(await saved({ isDevelopmentBuild: true, variables })).toEqual([true, ['token']]);
    expect(await saved({ isDevelopmentBuild: false, variables: {} })).toEqual([true, ['token']]);
  });
});
