import { readEvent } from '../../notify/content/read-event.js';
import { readHook, type HookAction } from './hook.js';

const NOW = 1_760_000_000_000;
const COMMON = {
  session_id: '7f9c2ba4-e88f-4b3e-9d3a-0c2f6a1b5d11',
  transcript_path: '/home/bob/.claude/projects/x/7f9c.jsonl',
  cwd: '/home/bob/src/build-tools',
  permission_mode: 'default',
};
const INPUT = { command: 'rm -rf build', description: 'Start from nothing' };

const eventOf = (action: HookAction) =>
  action?.kind === 'event'
    ? readEvent({ serverUrl: 'https://gate.example', ...action.event }, NOW)
    : action;

describe(readHook.name, () => {
  it('reads the end of a turn of Claude Code', () => {
    const input = { hook_event_name: 'Stop', last_assistant_message: 'Done.' };
    expect(eventOf(readHook({ ...COMMON, stop_hook_active: false, ...input }))).toMatchObject({
      topic: 'ready',
      messageText: 'Done.',
      session: { sessionId: COMMON.session_id, title: 'build-tools' },
      request: null,
    });
  });

  it('reads a permission request, which running the tool answers', () => {
    const tool = { tool_name: 'Bash', tool_input: INPUT };
    const asked = readHook({ ...COMMON, hook_event_name: 'PermissionRequest', ...tool });
    const event = eventOf(asked);
    expect(event).toMatchObject({
      topic: 'permission_request',
      request: {
        toolName: 'Bash',
        details: { command: INPUT.command, explanation: INPUT.description },
      },
    });
    const after = { hook_event_name: 'PostToolUse', ...tool, tool_response: {}, tool_use_id: 't' };
    const { request } = event as ReturnType<typeof readEvent>;
    expect(readHook({ ...COMMON, ...after })).toEqual({
      kind: 'answered',
      request: request?.requestId,
      session: COMMON.session_id,
    });
    const other = { ...after, tool_input: { command: 'ls' } };
    expect(readHook({ ...COMMON, ...other })).not.toMatchObject({ request: request?.requestId });
  });

  it('reads a question', () => {
    const questions = [{ question: 'Which one?', options: [{ label: 'A' }], multiSelect: true }];
    const tool = { tool_name: 'AskUserQuestion', tool_input: { questions } };
    const asked = readHook({ ...COMMON, hook_event_name: 'PermissionRequest', ...tool });
    expect(eventOf(asked)).toMatchObject({
      topic: 'user_action_request',
      request: { details: { questions: [{ text: 'Which one?', allowsSeveral: true }] } },
    });
  });

  it.each([
    ['permission_prompt', 'permission_request'],
    ['elicitation_dialog', 'user_action_request'],
  ])('reads the notification %s', (notification_type, topic) => {
    const message = 'Claude needs your permission to use Bash';
    const input = { ...COMMON, hook_event_name: 'Notification', message, notification_type };
    expect(eventOf(readHook(input))).toMatchObject({
      topic,
      request: { details: { explanation: message } },
    });
  });

  it('reads the turn of Codex, from its setting and from its hook as one event', () => {
    const notified = readHook({
      type: 'agent-turn-complete',
      'thread-id': 'b5f6c1c2-1111-2222-3333-444455556666',
      'turn-id': '12',
      cwd: '/srv/app',
      'input-messages': ['Rename it'],
      'last-assistant-message': 'Renamed.',
    });
    const hooked = readHook({
      hook_event_name: 'Stop',
      session_id: 'b5f6c1c2-1111-2222-3333-444455556666',
      turn_id: '12',
      cwd: '/srv/app',
      last_assistant_message: 'Renamed.',
    });
    expect(eventOf(notified)).toMatchObject({ messageText: 'Renamed.', session: { title: 'app' } });
    expect(hooked).toEqual(notified);
  });

  it.each([
    ['UserPromptSubmit', {}],
    ['SubagentStop', {}],
    ['Notification', { notification_type: 'idle_prompt', message: 'Waiting' }],
    ['Notification', { notification_type: 'toString', message: 'x' }],
    [undefined, {}],
    [7, {}],
  ])('sends nothing of %j %j', (hook_event_name, fields) => {
    expect(readHook({ ...COMMON, hook_event_name, ...fields })).toBeNull();
  });
});
