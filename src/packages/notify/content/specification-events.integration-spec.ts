import { SenderFixture } from '../../../../test/fixtures/sender-fixture.js';
import {
  anEvent,
  aRequest,
  pushToken,
  saved,
  settingsWith,
} from '../../../../test/fixtures/notification-fixture.js';

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

describe('Events', () => {
  const NO_CHANNELS = settingsWith([]);

  it('1. Push path: sends to the saved tokens through the push service', async () => {
    const outcomes = await fixture.send(anEvent('ready'), NO_CHANNELS, saved('a', 'b'));
    expect(fixture.service.accepted.map(({ to }) => to)).toEqual([pushToken('a'), pushToken('b')]);
    expect(outcomes.map(({ state }) => state)).toEqual(['no-target', 'sent', 'sent']);
  });

  it('1. Push path: names the server as the app knows it', async () => {
    const token = { token: pushToken('a'), clientServerUrl: 'https://home.example/' };
    await fixture.send(anEvent('ready'), NO_CHANNELS, [token]);
    expect(fixture.service.accepted[0]?.data).toMatchObject({ serverUrl: 'https://home.example' });
  });

  it('2. Webhook path: each enabled channel gets a POST for the topics that are on', async () => {
    const { url } = fixture.receiver;
    const channels = [{ url }, { url, enabled: false }, { url, topics: { ready: false } }, { url }];
    await fixture.send(anEvent('ready'), settingsWith(channels));
    const ids = fixture.receiver.received.map(
      ({ rawBody }) => JSON.parse(rawBody.toString()) as object,
    );
    expect(ids).toHaveLength(2);
    expect(ids).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ channelId: 'channel-1' }),
        expect.objectContaining({ channelId: 'channel-4' }),
      ]),
    );
  });

  it('3. Message text is in ready events only when the switch is on', async () => {
    const event = anEvent('ready', { messageText: 'Done: 12 of 12' });
    await fixture.send(event, NO_CHANNELS, saved('a'));
    await fixture.send(event, settingsWith([], { readyIncludeMessageText: true }), saved('a'));
    const bodies = ['The turn is finished. It is waiting for you.', 'Done: 12 of 12'];
    expect(fixture.service.accepted.map(({ body }) => body)).toEqual(bodies);
  });

  it.each([
    ['a command', command, 'rm -rf build\nWhy: Start from nothing'],
    ['a file path', { file_path: '/etc/hosts' }, '/etc/hosts'],
    ['a patch by paths', { changes: { 'a.ts': { type: 'add' }, 'b.ts': {} } }, 'a.ts, b.ts'],
    ['a patch as a list', { fileChanges: [{ path: 'a.ts', diff: '+x' }, 'b.ts'] }, 'a.ts, b.ts'],
    ['a plan', { plan: '1. Read\n2. Write' }, '1. Read\n2. Write'],
    ['a history import', { historyImport: '40 sessions' }, '40 sessions'],
    ['a web address', { url: 'https://a.example/' }, 'https://a.example/'],
    ['a search query', { query: 'jest esm' }, 'jest esm'],
    [
      'questions',
      {
        questions: [
          {
            question: 'Which database?',
            options: [{ label: 'PostgreSQL', description: 'the usual' }, { label: 'SQLite' }],
            multiSelect: true,
            custom: true,
          },
        ],
      },
      'Which database?\n1. PostgreSQL – the usual\n2. SQLite\nYou may choose several. You may answer in your own words.',
    ],
  ])('4. Previews show %s, formatted', async (_name, details, body) => {
    const event = anEvent('user_action_request', { request: aRequest(details) });
    await fixture.send(event, NO_CHANNELS, saved('a'));
    expect(fixture.service.accepted[0]?.body).toBe(`Bash needs your answer: ${body}`);
  });

  it('4. Raw tool input is never sent', async () => {
    const input = { secret_token: 'abc', nested: { deep: 1 }, old_string: 'x', command: 'ls' };
    const event = anEvent('permission_request', { request: aRequest(input) });
    await fixture.send(event, oneChannel(), saved('a'));
    expect(fixture.service.accepted[0]?.body).toBe('Bash needs your permission: ls');
    expect(fixture.receiver.received[0]?.rawBody.toString()).not.toMatch(
      /secret_token|deep|old_string/,
    );
  });

  it('5. With previews off the body is generic, and the ids remain', async () => {
    await fixture.send(permission(), settingsWith([], { requestPreviews: false }), saved('a'));
    const [message] = fixture.service.accepted;
    expect(message?.body).toBe('Something needs your permission to go on.');
    expect(JSON.stringify(message)).not.toContain('rm -rf');
    expect(message?.data).toEqual({
      topic: 'permission_request',
      serverUrl: 'https://gate.example',
      sessionId: 'ses-1',
      requestId: 'req-1',
      eventId: 'evt-1',
    });
  });

  it('5. With previews off a webhook has the generic body, and request.toolDetails is null', async () => {
    await fixture.send(permission(), oneChannel({ requestPreviews: false }));
    expect(fixture.receiver.json).toMatchObject({
      content: { body: 'Something needs your permission to go on.' },
      session: { sessionId: 'ses-1' },
      request: { requestId: 'req-1', kind: 'permission', toolDetails: null },
    });
    await fixture.send(permission(), oneChannel());
    expect(fixture.receiver.json['request']).toMatchObject({
      toolDetails: expect.stringContaining('rm -rf build'),
    });
  });

  it('6. Long previews are shortened with an ellipsis, and routing stays', async () => {
    const long = { command: 'echo 👩‍👩‍👧‍👦 '.repeat(5_000) };
    const event = anEvent('permission_request', { request: aRequest(long) });
    await fixture.send(event, oneChannel(), saved('a'));
    const [message] = fixture.service.accepted;
    expect(message?.body?.endsWith('…')).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(3072);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeGreaterThan(3040);
    expect(message?.data).toMatchObject({ sessionId: 'ses-1', requestId: 'req-1' });
    expect(fixture.receiver.received[0]?.rawBody.length).toBeLessThanOrEqual(16_384);
    expect(fixture.receiver.json['request']).toMatchObject({ requestId: 'req-1' });
  });

  it('7. and 10. Each topic has its category, a subtitle for iOS, and a channel on Android', async () => {
    for (const topic of TOPICS) {
      await fixture.send(anEvent(topic), NO_CHANNELS, saved('a'));
    }
    const shown = fixture.service.accepted.map((message) => [
      message.categoryId,
      message.channelId,
      message.subtitle,
    ]);
    expect(shown).toEqual([
      [undefined, 'ready', undefined],
      ['permission_request', 'permission-requests', 'Bash'],
      ['user_action_request', 'action-requests', 'Bash'],
    ]);
  });

  it('12. A preference that an older app dropped means previews on, for pushes and webhooks', async () => {
    const older = { v: 1, pushEnabled: true, ready: true, permissionRequest: true };
    const settings = { notificationsSettingsV1: older };
    await fixture.send(permission(), { ...oneChannel(), ...settings }, saved('a'));
    expect(fixture.service.accepted[0]?.body).toContain('rm -rf build');
    expect(fixture.receiver.json['content']).toMatchObject({
      body: expect.stringContaining('rm -rf build'),
    });
  });
});
