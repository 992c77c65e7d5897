export const AGENTS = ['claude-code', 'codex', 'opencode', 'copilot', 'gemini'] as const;
export type Agent = (typeof AGENTS)[number];

/** Effect of an event on the account's other devices. */
type HookEffect = 'ask' | 'withdraw' | 'ready' | 'notify';

/**
 * Form of a printed answer. `decision`: a hook decision; `decision-with-input`: the same, where an allow
 * repeats the tool's input; `denial`: only a denial is printed; `reply`: a word for the plugin.
 */
export type AnswerForm = 'decision' | 'decision-with-input' | 'denial' | 'reply';

/** The effect of exit code 2, which the command never uses. */
type ExitTwo = 'denies' | 'continues the turn' | 'warns' | 'is ignored';

/** Facts of one event of an agent, by its documentation or as recorded in test/fixtures/agent-hooks. */
interface HookRow {
  readonly agent: Agent;
  /** The event's name in its input. */
  readonly event: string;
  readonly input: 'standard input' | 'argument';
  readonly effect: HookEffect;
  readonly exitTwo: ExitTwo;
  /** Limits of an event that asks; null for one that does not wait. */
  readonly asks: AskRow | null;
}

export interface AskRow {
  readonly answer: AnswerForm;
  /** The command waits for so long; the limit that the agent is set to is {@link SPARE_SECONDS} longer. */
  readonly waitSeconds: number;
  /** True if the agent shows its own prompt while the hook runs. */
  readonly isPromptOpen: boolean;
  /** `session`: the tool may run in another directory than the one in the input. */
  readonly directory: 'tool' | 'session';
}

/** Time between the end of the command's wait and the limit at which the agent ends the hook. */
export const SPARE_SECONDS = 30;
/** The wait of an agent that shows its own prompt only after the hook. */
export const HIDDEN_PROMPT_SECONDS = 60;
/** The default limit of a hook of Claude Code is 600 seconds. */
const OPEN_PROMPT_SECONDS = 540;

const CLAUDE_ASKS: AskRow = {
  answer: 'decision-with-input',
  waitSeconds: OPEN_PROMPT_SECONDS,
  isPromptOpen: true,
  directory: 'tool',
};
const CODEX_ASKS: AskRow = {
  answer: 'decision',
  waitSeconds: HIDDEN_PROMPT_SECONDS,
  isPromptOpen: false,
  directory: 'session',
};
const OPENCODE_ASKS: AskRow = {
  answer: 'reply',
  waitSeconds: OPEN_PROMPT_SECONDS,
  isPromptOpen: true,
  directory: 'session',
};
/** Its hook runs before the person's own rules, and an allow of it would override them. */
const COPILOT_ASKS: AskRow = { ...CODEX_ASKS, answer: 'denial' };

const on = (
  agent: Agent,
  event: string,
  effect: HookEffect,
  exitTwo: ExitTwo,
  asks: AskRow | null = null,
  input: HookRow['input'] = 'standard input',
): HookRow => ({ agent, event, input, effect, exitTwo, asks });

/** Every event that has an effect; the command does nothing at any other. */
export const HOOKS: readonly HookRow[] = [
  on('claude-code', 'PermissionRequest', 'ask', 'denies', CLAUDE_ASKS),
  on('claude-code', 'PostToolUse', 'withdraw', 'warns'),
  on('claude-code', 'PostToolUseFailure', 'withdraw', 'warns'),
  on('claude-code', 'Stop', 'ready', 'continues the turn'),
  on('claude-code', 'Notification', 'notify', 'is ignored'),
  on('codex', 'PermissionRequest', 'ask', 'denies', CODEX_ASKS),
  on('codex', 'PostToolUse', 'withdraw', 'warns'),
  on('codex', 'Stop', 'ready', 'continues the turn'),
  on('codex', 'agent-turn-complete', 'ready', 'is ignored', null, 'argument'),
  on('opencode', 'permission.asked', 'ask', 'is ignored', OPENCODE_ASKS),
  on('opencode', 'permission.replied', 'withdraw', 'is ignored'),
  on('opencode', 'session.idle', 'ready', 'is ignored'),
  on('copilot', 'PreToolUse', 'ask', 'denies', COPILOT_ASKS),
  on('copilot', 'PostToolUse', 'withdraw', 'warns'),
  on('copilot', 'PostToolUseFailure', 'withdraw', 'warns'),
  on('copilot', 'Stop', 'ready', 'warns'),
  on('copilot', 'Notification', 'notify', 'warns'),
  on('gemini', 'AfterAgent', 'ready', 'continues the turn'),
  on('gemini', 'Notification', 'notify', 'is ignored'),
];

/** Returns null for an event without an effect, and for a value that is no name. */
export function hookRow(agent: Agent, event: unknown): HookRow | null {
  return HOOKS.find((row) => row.agent === agent && row.event === event) ?? null;
}
