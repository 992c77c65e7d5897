import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../helpers/wait.js';
import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const documentedBy = (agent: string) =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `../../fixtures/agent-hooks/${agent}.json`), 'utf8'),
  ) as { inputs: Record<string, object> };
const CLAUDE = documentedBy('claude-code').inputs;
const CODEX = documentedBy('codex').inputs;
const TOKEN = 'ExponentPushToken[hooks]';

// Its accounts have no end-to-end encryption, so that no answer can be trusted.
const server = await startPlainServer();
const fixture = await Notifying.start(server);

afterAll(async () => {
  await fixture.stop();
  await server.stop();
});

const hook = (agent: string, input: object | string, ...args: string[]) =>
  fixture.user.run(
    ['hook', agent, ...args],
    fixture.env,
    typeof input === 'string' ? input : `\ufeff${JSON.stringify(input)}`,
  );

describe('gatehouse hook', () => {
  it('notifies once of what cannot be answered from elsewhere, and prints nothing', async () => {
    const receiver = await fixture.webhook('hook', undefined, '--message-text');
    const asked = await hook('claude-code', CLAUDE['permission']!);
    expect(asked).toMatchObject({ code: 0, stdout: '' });
    expect(asked.stderr).toContain('Answer at the computer.');
    await waitFor('the request', () => receiver.received.length === 1);
    expect(receiver.json).toMatchObject({
      topic: 'permission_request',
      session: { title: 'build-tools' },
      request: { toolName: 'Bash' },
      content: { body: 'Bash needs your permission: rm -rf build\nWhy: Start from nothing' },
    });
    expect(await hook('claude-code', CLAUDE['permissionPrompt']!)).toMatchObject({ code: 0 });
    const turn = JSON.stringify(CODEX['turnComplete']);
    expect(await hook('codex', '', turn)).toMatchObject({ code: 0, stdout: '' });
    await waitFor('the turn', () => receiver.received.length === 2);
    expect(receiver.json).toMatchObject({ topic: 'ready', content: { body: 'Renamed.' } });
    await fixture.ok('channels', 'remove', 'hook');
  });

  it('takes a notification back once its tool has run', async () => {
    await fixture.registerToken(TOKEN);
    await hook('claude-code', CLAUDE['permission']!);
    await waitFor('the push', () => fixture.push.accepted.length === 1);
    await waitFor('it is replaced', async () => {
      const ran = await hook('claude-code', CLAUDE['toolRan']!);
      expect(ran).toMatchObject({ code: 0, stdout: '' });
      return fixture.push.accepted.length === 2;
    });
    expect(fixture.push.accepted[1]).toMatchObject({ title: 'Answered' });
  });

  it.each([
    ['copilot', 'Copilot needs permission to run rm -rf dist'],
    ['gemini', 'Tool Shell requires execution'],
  ])('notifies of a prompt that is answered at the computer: %s', async (agent, text) => {
    const receiver = await fixture.webhook('hook', undefined, '--message-text');
    const { permissionPrompt } = documentedBy(agent).inputs;
    expect(await hook(agent, permissionPrompt!)).toMatchObject({ code: 0, stdout: '' });
    await waitFor('the notification', () => receiver.received.length === 1);
    expect(receiver.json).toMatchObject({ topic: 'user_action_request' });
    expect(JSON.stringify(receiver.json)).toContain(text);
    await fixture.ok('channels', 'remove', 'hook');
  });

  it.each([
    ['opencode', '{"type": "permission.asked"}'],
    ['copilot', '{"hook_event_name": "PreToolUse", "session_id": 7}'],
    ['gemini', '{"hook_event_name": "Notification", "notification_type": {}}'],
    ['claude-code', '{"hook_event_name": "UserPromptSubmit"}'],
    ['claude-code', 'no JSON'],
    ['claude-code', '{"hook_event_name": "Stop", "session_id": "a b"}'],
    ['claude-code', '{"hook_event_name": "PermissionRequest", "session_id": 7}'],
    ['another', '{}'],
  ])('exits with 0 and prints nothing, whatever its input is: %s, %s', async (agent, input) => {
    expect(await hook(agent, input)).toMatchObject({ code: 0, stdout: '' });
  });

  it.each([
    [[]],
    [['claude-code', '{}', 'more']],
    [['claude-code', '--when', 'never']],
    [['claude-code', '--unknown']],
    [['claude-code', '--server', 'no address']],
    [['--json', 'codex', '--unknown']],
  ])('exits with 0 and says why on standard error, also after %j', async (args) => {
    const { code, stdout, stderr } = await fixture.user.run(
      ['hook', ...args],
      fixture.env,
      JSON.stringify(CLAUDE['permission']),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^(gatehouse: |\{"error":)/);
  });

  it('exits with 0 after a usage error, with an option of gatehouse before its name', async () => {
    const args = ['--json', 'hook', 'codex', '--unknown'];
    expect(await fixture.user.run(args)).toMatchObject({ code: 0, stdout: '' });
    expect(await fixture.user.run(['--unknown', 'hook', 'codex'])).toMatchObject({ code: 0 });
  });

  it('works with the configuration in the documentation', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/agent-hooks.md'), 'utf8');
    const blocks = [...page.matchAll(/```json\n(\{[^]*?)```/g)].map(([, json = '']) => json);
    expect(blocks.map((json) => typeof JSON.parse(json))).toEqual(blocks.map(() => 'object'));
    const [json = '{}'] = blocks;
    const { hooks } = JSON.parse(json) as { hooks: Record<string, { hooks: object[] }[]> };
    expect(Object.keys(hooks)).toEqual(['Stop', 'PermissionRequest', 'PostToolUse']);
    const command = 'gatehouse hook claude-code';
    for (const [name, [matcher]] of Object.entries(hooks)) {
      const limit = name === 'PermissionRequest' ? { timeout: 570 } : {};
      expect(matcher?.hooks).toEqual([{ type: 'command', command, ...limit }]);
    }
    expect(page).toContain('command = "gatehouse hook codex", timeout = 90');
  });
});
