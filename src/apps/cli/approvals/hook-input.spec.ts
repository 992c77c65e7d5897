import { readFileSync } from 'node:fs';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { readAgentRequest, writeAgentRequest } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import { AGENTS, readHook, type Agent, type HookAction, type HookQuestion } from './hook-input.js';
import { hookOutput } from './hook-output.js';

interface Documented {
  readonly limits: { readonly defaultTimeoutSeconds: number };
  readonly inputs: Readonly<Record<string, Record<string, unknown>>>;
  readonly output: {
    readonly event: string;
    readonly decision: Readonly<Record<'allow' | 'deny', readonly string[]>>;
  };
}

const documentedBy = (agent: Agent): Documented => {
  const file = new URL(`../../../../test/fixtures/agent-hooks/${agent}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Documented;
};
const CLAUDE = documentedBy('claude-code');
const CODEX = documentedBy('codex');
const NOW = 1_760_000_000_000;

const read = (agent: Agent, name: string): HookAction =>
  readHook(agent, (agent === 'codex' ? CODEX : CLAUDE).inputs[name]!);
const ask = (agent: Agent, name: string): HookQuestion => {
  const action = read(agent, name);
  if (action?.kind !== 'question') {
    throw new Error(`${name} asks nothing`);
  }
  return action;
};
const requestOf = ({ question }: HookQuestion): AgentRequest => ({
  ...{ v: 1, requestId: 'AAAAAAAAAAAAAAAAAAAAAA', server: 'https://gate.example', account: 'a' },
  ...{ ...question, host: 'laptop', askedAt: NOW, expiresAt: NOW + 1000 },
});

describe(readHook.name, () => {
  it('reads the end of a turn', () => {
    const action = read('claude-code', 'stop');
    expect(action?.kind).toBe('event');
    const event = readEvent(
      { serverUrl: 'https://gate.example', ...(action as { event: object }).event },
      NOW,
    );
    expect(event).toMatchObject({
      topic: 'ready',
      messageText: 'Done.',
      session: { sessionId: CLAUDE.inputs['stop']!['session_id'], title: 'build-tools' },
      request: null,
    });
  });

  it('reads the turn of Codex, from its setting and from its hook as one event', () => {
    expect(read('codex', 'turnComplete')).toEqual(read('codex', 'stop'));
  });

  it.each(AGENTS)('reads a permission request of %s, with the whole input of the tool', (agent) => {
    const { tool_input, tool_name, cwd } = documentedBy(agent).inputs['permission']!;
    const { question } = ask(agent, 'permission');
    expect(question).toMatchObject({ kind: 'permission', cwd, tool: { name: tool_name } });
    expect(question.tool?.input).toEqual(tool_input);
    const bytes = writeAgentRequest(requestOf(ask(agent, 'permission')))!;
    expect(readAgentRequest(bytes)).not.toBeNull();
  });

  it('reads a question with its options', () => {
    const { question } = ask('claude-code', 'question');
    expect(question).toMatchObject({
      kind: 'user_action',
      questions: [
        { id: '1', text: 'Which framework?', multiple: false, custom: false },
        {
          id: '2',
          text: 'Which checks?',
          multiple: true,
          options: [{ id: '1', label: 'Lint' }, {}, {}],
        },
      ],
    });
    const bytes = writeAgentRequest(requestOf(ask('claude-code', 'question')))!;
    expect(readAgentRequest(bytes)?.questions).toEqual(question.questions);
  });

  it.each([{ questions: [] }, { questions: [{ question: 'x' }] }, {}, null])(
    'notifies, and takes no answer, where the questions have another form: %j',
    (tool_input) => {
      const input = { ...CLAUDE.inputs['question'], tool_input };
      const action = readHook('claude-code', input);
      expect(action).toMatchObject({ kind: 'event', event: { topic: 'user_action_request' } });
      const { event } = action as { event: object };
      expect(readEvent({ serverUrl: 'https://gate.example', ...event }, NOW).id).not.toBe('');
    },
  );

  it.each([
    ['permission', 'toolRan'],
    ['question', 'questionAnswered'],
  ])('recognises that the tool of a %s ran', (asked, ran) => {
    const { subject } = ask('claude-code', asked);
    expect(read('claude-code', ran)).toEqual({ kind: 'answered', subject });
    const other = { ...CLAUDE.inputs[ran], session_id: 'another' };
    expect(readHook('claude-code', other)).not.toEqual({ kind: 'answered', subject });
  });

  it.each([
    ['claude-code', 'permission', true],
    ['claude-code', 'permissionOfSubagent', false],
    ['codex', 'permission', false],
  ] as const)(
    'knows where the prompt is open next to the hook: %s, %s',
    (agent, name, expected) => {
      expect(ask(agent, name).isPromptOpen).toBe(expected);
    },
  );

  it('notifies of a dialog, and not a second time of a permission', () => {
    expect(read('claude-code', 'permissionPrompt')).toBeNull();
    expect(read('claude-code', 'elicitation')).toMatchObject({
      event: { topic: 'user_action_request' },
    });
  });

  it.each([
    ['UserPromptSubmit', {}],
    ['SubagentStop', {}],
    ['Notification', { notification_type: 'idle_prompt', message: 'Waiting' }],
    ['Notification', { notification_type: 'toString', message: 'x' }],
    [undefined, {}],
    [7, {}],
  ])('does nothing at %j %j', (hook_event_name, fields) => {
    expect(readHook('claude-code', { hook_event_name, ...fields })).toBeNull();
  });
});

describe(hookOutput.name, () => {
  const answers: AnswerChoice = {
    answers: [
      { id: '1', options: ['2'] },
      { id: '2', options: ['1', '3'] },
    ],
  };
  const cases: [Agent, string, AnswerChoice][] = [
    ...AGENTS.flatMap((agent): [Agent, string, AnswerChoice][] => [
      [agent, 'permission', 'allow'],
      [agent, 'permission', 'deny'],
    ]),
    ['claude-code', 'question', answers],
    ['claude-code', 'question', 'deny'],
  ];

  it.each(cases)('prints only documented fields: %s, %s, %j', (agent, name, choice) => {
    const { event, decision: fields } = documentedBy(agent).output;
    const line = hookOutput(requestOf(ask(agent, name)), choice);
    const { hookSpecificOutput, ...others } = JSON.parse(line) as Record<string, never>;
    const { hookEventName, decision, ...more } = hookSpecificOutput as unknown as {
      hookEventName: string;
      decision: { behavior: 'allow' | 'deny' };
    };
    expect([others, more, hookEventName]).toEqual([{}, {}, event]);
    expect(decision.behavior).toBe(choice === 'deny' ? 'deny' : 'allow');
    const unknown = Object.keys(decision).filter((one) => !fields[decision.behavior].includes(one));
    expect(unknown).toEqual([]);
  });

  it('answers a question with the whole input of its tool, and changes no other input', () => {
    const { tool_input } = CLAUDE.inputs['question']!;
    const output = JSON.parse(hookOutput(requestOf(ask('claude-code', 'question')), answers)) as {
      hookSpecificOutput: { decision: { updatedInput: object } };
    };
    expect(output.hookSpecificOutput.decision.updatedInput).toEqual({
      ...(tool_input as object),
      answers: { 'Which framework?': 'Vue', 'Which checks?': 'Lint, Tests' },
    });
    const allowed = hookOutput(requestOf(ask('claude-code', 'permission')), 'allow');
    expect(allowed).not.toContain('updatedInput');
  });
});
