import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { isRecord, recordOf } from '../../../core/protocol/is-record.js';
import type { AskedQuestion } from '../../../core/protocol/agent-request.js';
import type { Question } from '../approvals/asking.js';
import { HIDDEN_PROMPT_SECONDS, hookRow, type Agent, type AskRow } from './hook-table.js';

type Fields = Readonly<Record<string, unknown>>;

/** The meaning of a hook's input. */
export type HookAction =
  | { readonly kind: 'event'; readonly event: object }
  /** A tool needs permission, or a question an answer. */
  | HookQuestion
  /** The tool ran: its request was answered at the computer. */
  | { readonly kind: 'answered'; readonly subject: string }
  | null;

export interface HookQuestion {
  readonly kind: 'question';
  readonly question: Question;
  /** The same for the hook that asks and the hook that reports the tool's end. */
  readonly subject: string;
  readonly asks: AskRow;
}

/** Returns null for input that needs nothing. */
export function readHook(agent: Agent, input: Fields): HookAction {
  const row = hookRow(agent, input['hook_event_name'] ?? input['type']);
  if (row === null) {
    return null;
  }
  const event = agent === 'opencode' ? fromOpenCode(input) : input;
  switch (row.effect) {
    case 'ask':
      return row.asks === null ? null : questionOf(agent, event, row.asks);
    case 'withdraw':
      return { kind: 'answered', subject: subjectOf(event) };
    case 'ready':
      return readyEvent(event);
    case 'notify':
      return noticeOf(agent, event);
  }
}

/** Names of the last message of a turn, of which each agent uses one. */
const MESSAGES = ['last_assistant_message', 'last-assistant-message', 'prompt_response'];

function readyEvent(input: Fields): HookAction {
  const turn = input['turn_id'] ?? input['turn-id'];
  const session = sessionOf(input);
  // Two settings of one agent may report the same turn, which is sent once.
  const id = typeof turn === 'string' ? { id: `turn-${digest([session.id, turn])}` } : {};
  const about = { sessionId: session.id, title: session.title };
  const messageText = MESSAGES.map((name) => input[name]).find((text) => typeof text === 'string');
  return { kind: 'event', event: { topic: 'ready', session: about, ...id, messageText } };
}

/**
 * The types that are notified of, to be answered at the computer. Claude Code has `permission_prompt`
 * as well: PermissionRequest reports the same prompt, and earlier.
 */
const NOTICES: Readonly<Partial<Record<Agent, readonly unknown[]>>> = {
  'claude-code': ['elicitation_dialog'],
  copilot: ['permission_prompt', 'elicitation_dialog'],
  gemini: ['ToolPermission'],
};

function noticeOf(agent: Agent, input: Fields): HookAction {
  if (NOTICES[agent]?.includes(input['notification_type']) !== true) {
    return null;
  }
  const { id: sessionId, title } = sessionOf(input);
  const explanation = textIn(input['message']);
  const requestId = `notice-${digest([sessionId, explanation, Date.now()])}`;
  const request = { requestId, details: { explanation } };
  const topic = 'user_action_request';
  return { kind: 'event', event: { topic, session: { sessionId, title }, request } };
}

function questionOf(agent: Agent, input: Fields, row: AskRow): HookAction {
  const name = textIn(input['tool_name']);
  const isQuestion = agent === 'claude-code' && name === ASKING_TOOL;
  const toolInput = input['tool_input'] ?? null;
  const common = { session: sessionOf(input), cwd: textIn(input['cwd']) };
  const questions = isQuestion ? questionsOf(toolInput) : null;
  if (isQuestion && questions === null) {
    // Permission alone would end the agent's dialog without an answer.
    const { id: sessionId, title } = common.session;
    const request = { requestId: subjectOf(input), toolName: name, details: toolInput };
    const topic = 'user_action_request';
    return { kind: 'event', event: { topic, session: { sessionId, title }, request } };
  }
  const tool = { name, input: agent === 'codex' ? withNetworkAccess(toolInput) : toolInput };
  const about = {
    ...common,
    ...(row.directory === 'session' && { cwdOf: 'session' as const }),
    ...((row.answer === 'denial' || input['is_partial'] === true) && { denyOnly: true as const }),
    tool,
  };
  return {
    kind: 'question',
    question:
      questions === null
        ? { kind: 'permission', ...about }
        : { kind: 'user_action', ...about, questions },
    subject: subjectOf(input),
    asks: input['agent_id'] === undefined ? row : ofSubagent(row),
  };
}

/** Claude Code shows its prompt next to the hook, but not for subagents: there it waits for the hook. */
function ofSubagent(row: AskRow): AskRow {
  return { ...row, isPromptOpen: false, waitSeconds: HIDDEN_PROMPT_SECONDS };
}

/**
 * Codex names the host in the description, and the command that connects as the command. The host acts,
 * so it becomes a line of the command, where descriptions are shown as words of the agent.
 */
function withNetworkAccess(input: unknown): unknown {
  const { command, description, ...rest } = recordOf(input);
  if (typeof description !== 'string' || !/^network-access \S+$/.test(description)) {
    return input;
  }
  const isNamed = typeof command === 'string' && command !== '' && command !== description;
  return { command: isNamed ? `${description}\n${command}` : description, ...rest };
}

/** Names of details that show what a tool of OpenCode does. Without one, only a denial is offered. */
const ACTING_DETAILS = ['command', 'diff', 'url', 'filepath', 'filePath'];

/** Returns an event of OpenCode in the form of a hook's input. The plugin adds `directory`. */
function fromOpenCode({ directory, properties }: Fields): Fields {
  const { id, requestID, sessionID, permission, patterns, metadata } = recordOf(properties);
  const details = recordOf(metadata);
  const isWhole = typeof details['command'] === 'string';
  return {
    session_id: sessionID,
    cwd: directory,
    tool_name: permission,
    tool_input: isWhole ? details : { ...details, patterns },
    permission_id: requestID ?? id,
    is_partial: !ACTING_DETAILS.some((name) => typeof details[name] === 'string'),
  };
}

/** The tool of Claude Code that asks questions. */
const ASKING_TOOL = 'AskUserQuestion';

/** Returns null for questions of another form than the documented one. */
function questionsOf(input: unknown): readonly AskedQuestion[] | null {
  const asked = recordOf(input)['questions'];
  const read = Array.isArray(asked) ? asked.map(askedQuestion) : [];
  const questions = read.filter((one) => one !== null);
  // The tool takes its answers by the text of the question.
  const texts = new Set(questions.map(({ text }) => text));
  const isWhole = questions.length > 0 && questions.length === read.length;
  return isWhole && texts.size === questions.length ? questions : null;
}

function askedQuestion(value: unknown, index: number): AskedQuestion | null {
  const { question, options, multiSelect } = recordOf(value);
  const given = Array.isArray(options) ? options.map(recordOf) : [];
  const read = given.map(({ label, description }, at) => {
    return { id: String(at + 1), label: textIn(label), description: textIn(description) };
  });
  const isWhole = read.length > 0 && read.every(({ label }) => label !== '');
  return typeof question === 'string' && isWhole
    ? {
        id: String(index + 1),
        text: question,
        options: read,
        multiple: multiSelect === true,
        custom: false,
      }
    : null;
}

/** A request of a hook has no id before its tool runs, so its input identifies it. OpenCode has ids. */
function subjectOf(input: Fields): string {
  const toolInput = input['tool_input'];
  const { questions } = recordOf(toolInput);
  // The answers to a question are part of the input of the tool that ran.
  const asked = input['tool_name'] === ASKING_TOOL ? questions : withoutReason(toolInput);
  const subject = input['permission_id'] ?? [input['tool_name'], asked];
  return `tool-${digest([textIn(input['session_id']), subject])}`;
}

/** Codex adds the reason of a command to the request, and not to the event of the tool that ran. */
function withoutReason(toolInput: unknown): unknown {
  return isRecord(toolInput) ? { ...toolInput, description: undefined } : toolInput;
}

function sessionOf(input: Fields): { readonly id: string; readonly title: string } {
  const id = textIn(input['session_id'] ?? input['sessionId'] ?? input['thread-id']);
  return { id, title: basename(textIn(input['cwd'])) };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function digest(subject: unknown): string {
  return hash('sha256', JSON.stringify(subject), 'base64url').slice(0, 32);
}
