import { createHmac } from 'node:crypto';
import { SenderFixture } from '../../../test/fixtures/sender-fixture.js';
import {
  anEvent,
  aRequest,
  NOW,
  settingsWith,
} from '../../../test/fixtures/notification-fixture.js';

const TOPICS = ['ready', 'permission_request', 'user_action_request'] as const;

let fixture: SenderFixture;
beforeEach(async () => {
  fixture = await SenderFixture.start();
});
afterEach(() => fixture.close());

const oneChannel = (channel: object = {}) =>
  settingsWith([{ url: fixture.receiver.url, ...channel }]);
const command = { command: 'rm -rf build', description: 'Start from nothing' };
const permission = () => anEvent('permission_request', { request: aRequest(command) });

describe('Webhook channel', () => {
  it('sends to the URL of the channel', async () => {
    await fixture.send(anEvent('ready'), oneChannel());
    expect(fixture.receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(fixture.receiver.received[0]?.headers['content-type']).toBe('application/json');
  });

  it.each(TOPICS)('sends %s by default, and omits it when its topic is off', async (topic) => {
    const name = { ready: 'ready', permission_request: 'permissionRequest' };
    const off = { [{ user_action_request: 'userActionRequest', ...name }[topic]]: false };
    await fixture.send(anEvent(topic), oneChannel());
    expect(fixture.receiver.json['topic']).toBe(topic);
    const [, outcome] = await fixture.send(anEvent(topic), oneChannel({ topics: off }));
    expect(outcome).toMatchObject({ state: 'suppressed', reason: 'topic-off' });
    expect(fixture.receiver.received).toHaveLength(1);
  });

  it('omits the message text of ready events by default', async () => {
    const event = anEvent('ready', { messageText: 'All 12 tests pass.' });
    await fixture.send(event, oneChannel());
    expect(fixture.receiver.received[0]?.rawBody.toString()).not.toContain('12 tests');
    await fixture.send(event, oneChannel({ readyIncludeMessageText: true }));
    expect(fixture.receiver.json['content']).toMatchObject({ body: 'All 12 tests pass.' });
  });

  it('sends generic bodies in a build without previews, regardless of the settings', async () => {
    await fixture.send(permission(), oneChannel({ requestPreviews: true }), [], {
      requestPreviews: false,
    });
    expect(fixture.receiver.received[0]?.rawBody.toString()).not.toContain('rm -rf');
    expect(fixture.receiver.json['request']).toMatchObject({
      requestId: 'req-1',
      toolDetails: null,
    });
  });
});

describe('Webhook delivery payload', () => {
  it('contains exactly the fields of the specification', async () => {
    await fixture.send(permission(), oneChannel());
    expect(fixture.receiver.json).toEqual({
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

  it('has the request null in ready events', async () => {
    await fixture.send(anEvent('ready'), oneChannel());
    expect(fixture.receiver.json['request']).toBeNull();
  });

  it('has the kind user_action in user-action events', async () => {
    await fixture.send(anEvent('user_action_request'), oneChannel());
    expect(fixture.receiver.json['request']).toMatchObject({
      requestId: 'req-1',
      kind: 'user_action',
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
  ])('formats the toolDetails of %j, and the body as a sentence', async (input, details, said) => {
    const event = anEvent('user_action_request', { request: aRequest(input, 'Ask') });
    await fixture.send(event, oneChannel());
    expect(fixture.receiver.json).toMatchObject({
      content: { body: `Ask needs your answer: ${said}` },
      request: { toolDetails: details },
    });
  });

  it('omits the tool in the body where its name is not known', async () => {
    const request = aRequest({ command: 'ls' }, '');
    await fixture.send(anEvent('permission_request', { request }), oneChannel());
    expect(fixture.receiver.json).toMatchObject({ content: { body: 'Permission needed: ls' } });
  });

  it('shortens sentence and details, each with an ellipsis', async () => {
    const request = aRequest({ command: '"'.repeat(20_000) });
    await fixture.send(anEvent('permission_request', { request }), oneChannel());
    const { content, request: shown } = fixture.receiver.json as {
      content: { body: string };
      request: { toolDetails: string };
    };
    expect(content.body).toMatch(/^Bash needs your permission: "{4000,}…$/);
    expect(shown.toolDetails).toMatch(/^Command: "{2500,}…$/);
    expect(fixture.receiver.received[0]?.rawBody.length).toBeLessThanOrEqual(16_384);
  });

  it('contains the metadata without secrets, unless they are requested', async () => {
    const metadata = {
      toolInput: 'curl -H "Authorization: Bearer abcdef1234567890"',
      password: 'hunter2 and more',
      branch: 'main',
      turn: 3,
    };
    await fixture.send(anEvent('ready', { metadata }), oneChannel());
    expect(fixture.receiver.json['metadata']).toMatchObject({
      toolInput: 'curl -H "Authorization: Bearer [masked]"',
      password: '[masked]',
      branch: 'main',
      turn: 3,
    });
    await fixture.send(anEvent('ready', { metadata }), oneChannel(), [], { maskSecrets: false });
    expect(fixture.receiver.json['metadata']).toMatchObject(metadata);
  });
});

describe('Webhook signing', () => {
  const SECRET = 'geheim';

  it('2. It is the HMAC of the raw body, which re-serialised JSON does not reproduce', async () => {
    await fixture.send(anEvent('ready'), oneChannel({ signingSecret: SECRET }));
    const { rawBody, headers } = fixture.receiver.received[0]!;
    const expected = createHmac('sha256', SECRET).update(rawBody).digest('hex');
    expect(headers['x-service-signature-256']).toBe(`sha256=${expected}`);
    const again = JSON.stringify(fixture.receiver.json, null, 1);
    expect(createHmac('sha256', SECRET).update(again).digest('hex')).not.toBe(expected);
  });

  it.each([{}, { signingSecret: null }, { signingSecret: '', previousSigningSecret: SECRET }])(
    '4. Without a secret the header is absent, %j',
    async (secrets) => {
      await fixture.send(anEvent('ready'), oneChannel(secrets));
      const { headers } = fixture.receiver.received[0]!;
      expect(headers).not.toHaveProperty('x-service-signature-256');
      expect(headers).not.toHaveProperty('webhook-signature');
    },
  );
});
