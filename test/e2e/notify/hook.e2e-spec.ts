import { writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../helpers/wait.js';
import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const SESSION = { session_id: 'ses-1', cwd: '/home/bob/build-tools' };
const TOOL = { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } };
const TOKEN = 'ExponentPushToken[hooks]';

const server = await startPlainServer();
const fixture = await Notifying.start(server);

afterAll(async () => {
  await fixture.stop();
  await server.stop();
});

const hook = (agent: string, input: object | string, ...args: string[]) =>
  fixture.user.run(
    ['notify', 'hook', agent, ...args],
    fixture.env,
    typeof input === 'string' ? input : `\ufeff${JSON.stringify(input)}`,
  );

describe('gatehouse notify hook', () => {
  it('sends the events of Claude Code and Codex, and prints nothing', async () => {
    const receiver = await fixture.webhook('hook', undefined, '--message-text');
    const request = { ...SESSION, hook_event_name: 'PermissionRequest', ...TOOL };
    expect(await hook('claude-code', request)).toMatchObject({ code: 0, stdout: '' });
    await waitFor('the request', () => receiver.received.length === 1);
    expect(receiver.json).toMatchObject({
      topic: 'permission_request',
      session: { sessionId: 'ses-1', title: 'build-tools' },
      request: { toolName: 'Bash' },
      content: { body: 'Bash needs your permission: rm -rf build' },
    });
    const turn = { type: 'agent-turn-complete', 'thread-id': 't', 'turn-id': '1', cwd: '/srv/app' };
    const done = JSON.stringify({ ...turn, 'last-assistant-message': 'Renamed.' });
    expect(await hook('codex', '', done)).toMatchObject({ code: 0, stdout: '' });
    await waitFor('the turn', () => receiver.received.length === 2);
    expect(receiver.json).toMatchObject({ topic: 'ready', content: { body: 'Renamed.' } });
    await fixture.ok('channels', 'remove', 'hook');
  });

  it('withdraws a request once its tool has run', async () => {
    await fixture.registerToken(TOKEN);
    await hook('claude-code', { ...SESSION, hook_event_name: 'PermissionRequest', ...TOOL });
    await waitFor('the push', () => fixture.push.accepted.length === 1);
    const ran = { ...SESSION, hook_event_name: 'PostToolUse', ...TOOL, tool_response: 'ok' };
    await waitFor('it is replaced', async () => {
      expect(await hook('claude-code', ran)).toMatchObject({ code: 0, stdout: '' });
      return fixture.push.accepted.length === 2;
    });
    expect(fixture.push.accepted[1]).toMatchObject({ title: 'Answered' });
  });

  it.each([
    ['claude-code', '{"hook_event_name": "UserPromptSubmit"}', 0],
    ['claude-code', 'no JSON', 0],
    ['claude-code', '{"hook_event_name": "Stop", "session_id": "a b"}', 1],
    ['another', '{}', 1],
  ])('never exits with 2, which would stop the agent: %s, %s', async (agent, input, code) => {
    expect(await hook(agent, input)).toMatchObject({ code, stdout: '' });
  });

  it('works with the configuration in the documentation', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/agent-hooks.md'), 'utf8');
    const [, json = '{}'] = /```json\n(\{[^]*?)```/.exec(page) ?? [];
    const { hooks } = JSON.parse(json) as { hooks: Record<string, { hooks: object[] }[]> };
    expect(Object.keys(hooks)).toEqual(['Stop', 'PermissionRequest']);
    for (const [matcher] of Object.values(hooks)) {
      const command = 'gatehouse notify hook claude-code';
      expect(matcher?.hooks).toEqual([{ type: 'command', command }]);
    }
  });
});

describe('the input of notify', () => {
  it('accepts an array, a byte order mark, and the field names of either side', async () => {
    const receiver = await fixture.webhook(
      'array',
      undefined,
      '--topics',
      'ready,permission_request',
    );
    const file = join(fixture.user.home, 'events.json');
    const events = ['e1', 'e2'].map((id) => ({ id, topic: 'ready', session: { sessionId: 's' } }));
    await writeFile(file, `\ufeff${JSON.stringify(events)}`);
    const lines = await fixture.ok<{ event: string }>('notify', 'send', '--event-file', file);
    expect(lines.map(({ event }) => event)).toEqual(['e1', 'e2']);
    expect(receiver.received).toHaveLength(2);
    const settings = join(fixture.user.home, 'settings.json');
    await writeFile(settings, '\ufeff{}');
    await fixture.ok('channels', 'list', '--settings-file', settings);
  });

  it('requires the topic of ntfy in its url', async () => {
    const { code, stderr } = await fixture.run(
      ...['channels', 'add', 'https://ntfy.sh/', '--preset', 'ntfy'],
    );
    expect(code).toBe(2);
    expect(stderr).toContain('https://ntfy.sh/my-topic');
  });

  it('adds eight channels to one file simultaneously', async () => {
    const file = join(fixture.user.home, 'shared.json');
    const names = Array.from({ length: 8 }, (_, index) => `ch-${index}`);
    const added = await Promise.all(
      names.map((id) =>
        fixture.run(
          'channels',
          'add',
          `http://127.0.0.1/${id}`,
          '--id',
          id,
          '--settings-file',
          file,
        ),
      ),
    );
    expect(added.map(({ code }) => code)).toEqual(names.map(() => 0));
    const { notificationChannelsV1 } = JSON.parse(readFileSync(file, 'utf8')) as {
      notificationChannelsV1: { id: string }[];
    };
    expect(notificationChannelsV1.map(({ id }) => id).sort()).toEqual(names);
  });
});
