import { createHmac } from 'node:crypto';
import { readPreferences } from '../src/notify/preferences.js';
import { verify, WebhookRefused } from '../src/webhooks/verify.js';
import { SenderWorld } from './fakes/sender-world.js';
import { anEvent, aRequest, NOW, settingsWith } from './fakes/webhook-account.js';

const TOPICS = ['ready', 'permission_request', 'user_action_request'] as const;

let world: SenderWorld;
beforeEach(async () => {
  world = await SenderWorld.start();
});
afterEach(() => world.close());

const oneChannel = (channel: object = {}) =>
  settingsWith([{ url: world.receiver.url, ...channel }]);
const command = { command: 'rm -rf build', description: 'Start from nothing' };
const permission = () => anEvent('permission_request', { request: aRequest(command) });

describe('Webhook channel', () => {
  it('Destination: a URL', async () => {
    await world.send(anEvent('ready'), oneChannel());
    expect(world.receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(world.receiver.received[0]?.headers['content-type']).toBe('application/json');
  });

  it.each(TOPICS)('Topics: %s is on when a channel is created, and can be off', async (topic) => {
    const name = { ready: 'ready', permission_request: 'permissionRequest' };
    const off = { [{ user_action_request: 'userActionRequest', ...name }[topic]]: false };
    await world.send(anEvent(topic), oneChannel());
    expect(world.receiver.json['topic']).toBe(topic);
    const [, outcome] = await world.send(anEvent(topic), oneChannel({ topics: off }));
    expect(outcome).toMatchObject({ state: 'suppressed', reason: 'topic-off' });
    expect(world.receiver.received).toHaveLength(1);
  });

  it('Message preview in ready events: off by default', async () => {
    const event = anEvent('ready', { messageText: 'All 12 tests pass.' });
    await world.send(event, oneChannel());
    expect(world.receiver.received[0]?.rawBody.toString()).not.toContain('12 tests');
    await world.send(event, oneChannel({ readyIncludeMessageText: true }));
    expect(world.receiver.json['content']).toMatchObject({ body: 'All 12 tests pass.' });
  });

  it('Request previews: on by default, also for existing webhooks', async () => {
    await world.send(permission(), oneChannel());
    expect(world.receiver.json['request']).toMatchObject({
      toolDetails: 'Command: rm -rf build\nWhy: Start from nothing',
    });
  });

  it('Request previews: a build without them sends generic bodies whatever the settings say', async () => {
    await world.send(permission(), oneChannel({ requestPreviews: true }), [], {
      requestPreviews: false,
    });
    expect(world.receiver.received[0]?.rawBody.toString()).not.toContain('rm -rf');
    expect(world.receiver.json['request']).toMatchObject({ requestId: 'req-1', toolDetails: null });
  });

  it('Signing secret: optional', async () => {
    await world.send(anEvent('ready'), oneChannel({ signingSecret: null }));
    expect(world.receiver.received[0]?.headers).not.toHaveProperty('x-service-signature-256');
    expect(world.receiver.received[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  it('Enabled: true when added, and a disabled channel gets nothing', async () => {
    expect(readPreferences(oneChannel()).channels[0]?.enabled).toBe(true);
    const [, outcome] = await world.send(anEvent('ready'), oneChannel({ enabled: false }));
    expect(outcome).toMatchObject({ state: 'suppressed', reason: 'channel-disabled' });
    expect(world.receiver.received).toEqual([]);
  });
});

describe('Webhook delivery payload', () => {
  it('has exactly the fields of the specification', async () => {
    await world.send(permission(), oneChannel());
    expect(world.receiver.json).toEqual({
      channelId: 'channel-1',
      createdAt: NOW,
      topic: 'permission_request',
      content: {
        title: 'Permission needed: Fix the build',
        body: 'Bash needs your permission: rm -rf build\nWhy: Start from nothing',
      },
      session: { sessionId: 'ses-1', title: 'Fix the build' },
      request: {
        requestId: 'req-1',
        kind: 'permission',
        toolName: 'Bash',
        toolDetails: 'Command: rm -rf build\nWhy: Start from nothing',
      },
      metadata: { eventId: 'evt-1', serverUrl: 'https://gate.example' },
    });
  });

  it('request: null for ready events', async () => {
    await world.send(anEvent('ready'), oneChannel());
    expect(world.receiver.json['request']).toBeNull();
  });

  it('request.kind: user_action for user-action events', async () => {
    await world.send(anEvent('user_action_request'), oneChannel());
    expect(world.receiver.json['request']).toMatchObject({
      requestId: 'req-1',
      kind: 'user_action',
    });
  });

  it('request.toolDetails: null when request previews are disabled', async () => {
    await world.send(permission(), oneChannel({ requestPreviews: false }));
    expect(world.receiver.json['request']).toEqual({
      requestId: 'req-1',
      kind: 'permission',
      toolName: 'Bash',
      toolDetails: null,
    });
  });

  it.each([
    [{ file_path: '/etc/hosts' }, 'File: /etc/hosts', '/etc/hosts'],
    [
      { url: 'https://a.example/', reason: 'To compare' },
      'Address: https://a.example/\nWhy: To compare',
      'https://a.example/\nWhy: To compare',
    ],
    [{ question: 'Which?', options: ['A', 'B'] }, 'Which?\n1. A\n2. B', 'Which?\n1. A\n2. B'],
  ])(
    'request.toolDetails: %j formatted; content.body: a sentence',
    async (input, details, said) => {
      const event = anEvent('user_action_request', { request: aRequest(input, 'Ask') });
      await world.send(event, oneChannel());
      expect(world.receiver.json).toMatchObject({
        content: { body: `Ask needs your answer: ${said}` },
        request: { toolDetails: details },
      });
    },
  );

  it('content.body: a sentence without the tool where its name is not known', async () => {
    const request = aRequest({ command: 'ls' }, '');
    await world.send(anEvent('permission_request', { request }), oneChannel());
    expect(world.receiver.json).toMatchObject({ content: { body: 'Permission needed: ls' } });
  });

  it('shortens sentence and details, each with an ellipsis', async () => {
    const request = aRequest({ command: '"'.repeat(20_000) });
    await world.send(anEvent('permission_request', { request }), oneChannel());
    const { content, request: shown } = world.receiver.json as {
      content: { body: string };
      request: { toolDetails: string };
    };
    expect(content.body).toMatch(/^Bash needs your permission: "{4000,}…$/);
    expect(shown.toolDetails).toMatch(/^Command: "{2500,}…$/);
    expect(world.receiver.received[0]?.rawBody.length).toBeLessThanOrEqual(16_384);
  });

  it('metadata: without secrets, unless they are wanted', async () => {
    const metadata = {
      toolInput: 'curl -H "Authorization: Bearer abcdef1234567890"',
      password: 'hunter2 and more',
      branch: 'main',
      turn: 3,
    };
    await world.send(anEvent('ready', { metadata }), oneChannel());
    expect(world.receiver.json['metadata']).toMatchObject({
      toolInput: 'curl -H "Authorization: Bearer [masked]"',
      password: '[masked]',
      branch: 'main',
      turn: 3,
    });
    await world.send(anEvent('ready', { metadata }), oneChannel(), [], { maskSecrets: false });
    expect(world.receiver.json['metadata']).toMatchObject(metadata);
  });

  it('metadata: what the event brings along, with the event and its server', async () => {
    await world.send(anEvent('ready', { metadata: { branch: 'main', turn: 3 } }), oneChannel());
    const ids = { eventId: 'evt-1', serverUrl: 'https://gate.example' };
    expect(world.receiver.json['metadata']).toEqual({ branch: 'main', turn: 3, ...ids });
  });
});

describe('Webhook signing', () => {
  const SECRET = 'geheim';

  it('1. With a secret every delivery carries the header', async () => {
    await world.send(anEvent('ready'), oneChannel({ signingSecret: SECRET }));
    const header = world.receiver.received[0]?.headers['x-service-signature-256'];
    expect(header).toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it('2. It is the HMAC of the raw body, which re-serialised JSON does not reproduce', async () => {
    await world.send(anEvent('ready'), oneChannel({ signingSecret: SECRET }));
    const { rawBody, headers } = world.receiver.received[0]!;
    const expected = createHmac('sha256', SECRET).update(rawBody).digest('hex');
    expect(headers['x-service-signature-256']).toBe(`sha256=${expected}`);
    const again = JSON.stringify(world.receiver.json, null, 1);
    expect(createHmac('sha256', SECRET).update(again).digest('hex')).not.toBe(expected);
  });

  it('3. A receiver takes a missing header, or one of another length, for a mismatch', async () => {
    await world.send(anEvent('ready'), oneChannel({ signingSecret: SECRET }));
    const { rawBody, headers } = world.receiver.received[0]!;
    const signature = headers['x-service-signature-256'] ?? '';
    const check = (value?: string) =>
      verify({ 'x-service-signature-256': value }, rawBody, SECRET, { toleranceSeconds: null });
    expect(check(signature)).toMatchObject({ payload: { topic: 'ready' } });
    for (const wrong of [undefined, signature.slice(0, -1), `${signature}0`]) {
      expect(() => check(wrong)).toThrow(WebhookRefused);
    }
  });

  it.each([{}, { previousSigningSecret: SECRET }])(
    '4. Without a secret the header is absent, %j',
    async (previous) => {
      await world.send(anEvent('ready'), oneChannel({ signingSecret: '', ...previous }));
      const { headers } = world.receiver.received[0]!;
      expect(headers).not.toHaveProperty('x-service-signature-256');
      expect(headers).not.toHaveProperty('webhook-signature');
    },
  );
});
