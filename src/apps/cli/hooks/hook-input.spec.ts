import { readFileSync } from 'node:fs';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { readAgentRequest, writeAgentRequest } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';
import { showRequest, textOfRequest } from '../../../packages/client/approvals/show-request.js';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import { readHook, type HookAction, type HookQuestion } from './hook-input.js';
import { hookOutput } from './hook-output.js';
import { AGENTS, HOOKS, hookRow, SPARE_SECONDS, type Agent } from './hook-table.js';

interface Documented {
  readonly version: string;
  readonly date: string;
  readonly source: string;
  readonly inputs: Readonly<Record<string, Record<string, unknown>>>;
  readonly output?: {
    readonly event: string;
    readonly decision: Readonly<Record<'allow' | 'deny', readonly string[]>>;
  };
}

const documentedBy = (agent: Agent): Documented => {
  const file = new URL(`../../../../test/fixtures/agent-hooks/${agent}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Documented;
};
const CLAUDE = documentedBy('claude-code');
const NOW = 1_760_000_000_000;
const HOOK_AGENTS = ['claude-code', 'codex'] as const;

const read = (agent: Agent, name: string): HookAction =>
  readHook(agent, documentedBy(agent).inputs[name]!);
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
const outputOf = (agent: Agent, name: string, choice: AnswerChoice): unknown => {
  const asked = ask(agent, name);
  const line = hookOutput(requestOf(asked), choice, asked.asks.answer);
  return line === null ? null : JSON.parse(line);
};

describe('the table of hooks', () => {
  it.each(AGENTS)('has its recorded or documented inputs with version and date: %s', (agent) => {
    const { version, date, source, inputs } = documentedBy(agent);
    expect([version, date]).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
      expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    ]);
    expect(source).toMatch(/^(Recorded|Written after https:|Written after docs\/)/);
    const events = Object.values(inputs).map((input) => input['hook_event_name'] ?? input['type']);
    const unrecorded = HOOKS.filter((row) => row.agent === agent && !events.includes(row.event));
    expect(unrecorded.map(({ event }) => event)).toEqual(
      agent === 'claude-code' ? ['PostToolUseFailure'] : [],
    );
  });

  it('is the one in the documentation', () => {
    const page = readFileSync(new URL('../../../../docs/agent-hooks.md', import.meta.url), 'utf8');
    const cells = page
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
    for (const { agent, event, input, effect, exitTwo, asks } of HOOKS) {
      const row = cells.find(([, first, second]) => first === agent && second === event);
      const wait =
        asks === null ? '–' : `${asks.waitSeconds} s, ${asks.waitSeconds + SPARE_SECONDS} s`;
      const facts = [input, effect, asks?.answer ?? '–', exitTwo, wait, asks?.directory ?? '–'];
      expect(row?.slice(3, -1)).toEqual(facts);
    }
    for (const agent of AGENTS) {
      expect(page).toContain(documentedBy(agent).version);
    }
  });
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

  it.each(HOOK_AGENTS)(
    'reads a permission request of %s, with the whole input of the tool',
    (agent) => {
      const { tool_input, tool_name, cwd } = documentedBy(agent).inputs['permission']!;
      const { question } = ask(agent, 'permission');
      expect(question).toMatchObject({ kind: 'permission', cwd, tool: { name: tool_name } });
      expect(question.tool?.input).toEqual(tool_input);
      const bytes = writeAgentRequest(requestOf(ask(agent, 'permission')))!;
      expect(readAgentRequest(bytes)).not.toBeNull();
    },
  );

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
    ['claude-code', 'permission', true, 540],
    ['claude-code', 'permissionOfSubagent', false, 60],
    ['codex', 'permission', false, 60],
    ['opencode', 'permission', true, 540],
    ['copilot', 'permission', false, 60],
  ] as const)(
    'waits for a minute where the prompt is not open next to the hook: %s, %s',
    (agent, name, isPromptOpen, waitSeconds) => {
      expect(ask(agent, name).asks).toMatchObject({ isPromptOpen, waitSeconds });
    },
  );

  it.each([
    ['claude-code', 'Directory:'],
    ['codex', 'Directory of the session:'],
    ['opencode', 'Directory of the session:'],
    ['copilot', 'Directory of the session:'],
  ] as const)('labels the directory where the tool may run in another one: %s', (agent, label) => {
    const bytes = writeAgentRequest(requestOf(ask(agent, 'permission')))!;
    const lines = textOfRequest(showRequest(readAgentRequest(bytes)!)).split('\n');
    expect(lines.find((line) => line.startsWith('Directory'))).toBe(label);
  });

  it('shows a network approval of Codex as what acts, and its command next to it', () => {
    const text = textOfRequest(showRequest(requestOf(ask('codex', 'networkAccess'))));
    expect(text.split('\n').slice(0, 3)).toEqual([
      'Command:',
      '  network-access https://registry.example:443',
      '  curl -sS https://registry.example/pkg.tgz',
    ]);
    expect(text).not.toContain('Description');
    const alone = ask('codex', 'networkAccessAlone').question.tool;
    expect(alone?.input).toEqual({ command: 'network-access https://registry.example:443' });
  });

  it('hides no command behind a description that pretends to be a network approval', () => {
    const input = { ...documentedBy('codex').inputs['networkAccess'] };
    const tool_input = { command: 'rm -rf ~', description: 'network-access a\nls' };
    const action = readHook('codex', { ...input, tool_input }) as HookQuestion;
    expect(action.question.tool?.input).toEqual(tool_input);
  });

  it('reads a request of OpenCode with the whole command', () => {
    const { question } = ask('opencode', 'permission');
    expect(question).toMatchObject({
      kind: 'permission',
      session: { id: 'ses_ddf724dcdffenAp8HDFvEei3NF', title: 'build-tools' },
      tool: { name: 'bash', input: { command: 'touch made-by-hook > out.txt && echo hi' } },
    });
    expect(question.denyOnly).toBeUndefined();
  });

  it.each([
    ['copilot', 'permission'],
    ['opencode', 'permissionOfUnknownTool'],
  ] as const)('asks for a denial only where an allow would be unsafe: %s, %s', (agent, name) => {
    const bytes = writeAgentRequest(requestOf(ask(agent, name)))!;
    const shown = showRequest(readAgentRequest(bytes)!);
    expect(shown).toMatchObject({ canAllow: false, whyNotAllowed: 'deny-only' });
    expect(textOfRequest(shown)).toContain('takes a denial only');
  });

  it.each([
    ['claude-code', 'stop', 'Done.'],
    ['codex', 'stop', 'Renamed.'],
    ['opencode', 'stop', undefined],
    ['copilot', 'stop', undefined],
    ['gemini', 'stop', 'Renamed.'],
  ] as const)('notifies of the end of a turn: %s', (agent, name, messageText) => {
    expect(read(agent, name)).toMatchObject({ event: { topic: 'ready', messageText } });
  });

  it('notifies of the end of a turn whose last message is no text', () => {
    const input = {
      hook_event_name: 'AfterAgent',
      session_id: 's1',
      prompt_response: { parts: [] },
    };
    expect(readHook('gemini', input)).toMatchObject({ event: { topic: 'ready' } });
    expect(readHook('gemini', input)).not.toHaveProperty('event.messageText.parts');
  });

  it.each([
    ['copilot', 'toolRan'],
    ['copilot', 'toolFailed'],
    ['opencode', 'toolRan'],
    ['codex', 'toolRan'],
  ] as const)('recognises the end of a request: %s, %s', (agent, ran) => {
    const { subject } = ask(agent, 'permission');
    expect(read(agent, ran)).toEqual({ kind: 'answered', subject });
  });

  it.each([
    ['copilot', 'permissionPrompt', 'shellCompleted'],
    ['gemini', 'permissionPrompt', 'otherNotification'],
  ] as const)('notifies of a prompt, and of no other type: %s', (agent, prompt, other) => {
    expect(read(agent, prompt)).toMatchObject({ event: { topic: 'user_action_request' } });
    expect(read(agent, other)).toBeNull();
  });

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
    ...HOOK_AGENTS.flatMap((agent): [Agent, string, AnswerChoice][] => [
      [agent, 'permission', 'allow'],
      [agent, 'permission', 'deny'],
    ]),
    ['claude-code', 'question', answers],
    ['claude-code', 'question', 'deny'],
  ];

  it.each(cases)('prints only documented fields: %s, %s, %j', (agent, name, choice) => {
    const { event, decision: fields } = documentedBy(agent).output!;
    const { hookSpecificOutput, ...others } = outputOf(agent, name, choice) as never as Record<
      string,
      never
    >;
    const { hookEventName, decision, ...more } = hookSpecificOutput as unknown as {
      hookEventName: string;
      decision: { behavior: 'allow' | 'deny' };
    };
    expect([others, more, hookEventName]).toEqual([{}, {}, event]);
    expect(decision.behavior).toBe(choice === 'deny' ? 'deny' : 'allow');
    const unknown = Object.keys(decision).filter((one) => !fields[decision.behavior].includes(one));
    expect(unknown).toEqual([]);
  });

  const decided = (decision: object) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
  });

  it.each(['permission', 'permissionOfSubagent', 'plan'])(
    'repeats the input of the tool in an allow of Claude Code, and no permissions: %s',
    (name) => {
      const { tool_input } = CLAUDE.inputs[name]!;
      const allowed = { behavior: 'allow', updatedInput: tool_input };
      expect(outputOf('claude-code', name, 'allow')).toEqual(decided(allowed));
    },
  );

  it('answers a question with the whole input of its tool', () => {
    const { tool_input } = CLAUDE.inputs['question']!;
    const given = { 'Which framework?': 'Vue', 'Which checks?': 'Lint, Tests' };
    const updatedInput = { ...(tool_input as object), answers: given };
    expect(outputOf('claude-code', 'question', answers)).toEqual(
      decided({ behavior: 'allow', updatedInput }),
    );
  });

  it('allows Codex without an input, which it refuses', () => {
    expect(outputOf('codex', 'permission', 'allow')).toEqual(decided({ behavior: 'allow' }));
  });

  it.each([
    ['allow', { reply: 'once' }],
    ['deny', { reply: 'reject' }],
  ] as const)('replies to OpenCode once: %s', (choice, reply) => {
    expect(outputOf('opencode', 'permission', choice)).toEqual(reply);
  });

  it('prints a denial for Copilot, and leaves everything else to its own prompt', () => {
    expect(outputOf('copilot', 'permission', 'deny')).toMatchObject({ permissionDecision: 'deny' });
    expect(outputOf('copilot', 'permission', 'allow')).toBeNull();
  });
});

describe(hookRow.name, () => {
  it.each(['SessionStart', 'toString', '', undefined, 7, null, {}])(
    'has no row for %j',
    (event) => {
      expect(AGENTS.map((agent) => hookRow(agent, event))).toEqual(AGENTS.map(() => null));
    },
  );
});
