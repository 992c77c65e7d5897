import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { recordOf } from '../../../packages/client/is-record.js';
import type { AskedQuestion } from '../../../core/protocol/agent-request.js';
import type { Question } from './asking.js';

type Fields = Readonly<Record<string, unknown>>;

export const AGENTS = ['claude-code', 'codex'] as const;
export type Agent = (typeof AGENTS)[number];

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
  /** False where the agent shows its own prompt only after the hook. */
  readonly isPromptOpen: boolean;
}

/** Returns null for input that needs nothing. */
export function readHook(agent: Agent, input: Fields): HookAction {
  switch (input['hook_event_name'] ?? input['type']) {
    case 'Stop':
      return readyEvent(input, input['last_assistant_message']);
    case 'agent-turn-complete':
      return readyEvent(input, input['last-assistant-message']);
    case 'PermissionRequest':
      return questionOf(agent, input);
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'answered', subject: subjectOf(input) };
    case 'Notification':
      return dialogEvent(input);
    default:
      return null;
  }
}

function readyEvent(input: Fields, messageText: unknown): HookAction {
  const turn = input['turn_id'] ?? input['turn-id'];
  const session = sessionOf(input);
  // Two settings of one agent may report the same turn, which is sent once.
  const id = typeof turn === 'string' ? { id: `turn-${digest([session.id, turn])}` } : {};
  const about = { sessionId: session.id, title: session.title };
  return { kind: 'event', event: { topic: 'ready', session: about, ...id, messageText } };
}

/** `permission_prompt` is left out: PermissionRequest reports the same prompt, and earlier. */
function dialogEvent(input: Fields): HookAction {
  if (input['notification_type'] !== 'elicitation_dialog') {
    return null;
  }
  const { id: sessionId, title } = sessionOf(input);
  const explanation = textIn(input['message']);
  const requestId = `notice-${digest([sessionId, explanation, Date.now()])}`;
  const request = { requestId, details: { explanation } };
  const topic = 'user_action_request';
  return { kind: 'event', event: { topic, session: { sessionId, title }, request } };
}

function questionOf(agent: Agent, input: Fields): HookAction {
  const name = textIn(input['tool_name']);
  const toolInput = input['tool_input'] ?? null;
  const common = { session: sessionOf(input), cwd: textIn(input['cwd']) };
  const tool = { name, input: toolInput };
  const questions = name === ASKING_TOOL ? questionsOf(toolInput) : null;
  if (name === ASKING_TOOL && questions === null) {
    // Permission alone would end the agent's dialog without an answer.
    const { id: sessionId, title } = common.session;
    const request = { requestId: subjectOf(input), toolName: name, details: toolInput };
    const topic = 'user_action_request';
    return { kind: 'event', event: { topic, session: { sessionId, title }, request } };
  }
  return {
    kind: 'question',
    question:
      questions === null
        ? { kind: 'permission', ...common, tool }
        : { kind: 'user_action', ...common, tool, questions },
    subject: subjectOf(input),
    // Claude Code shows its prompt next to the hook, but not for agents in the background.
    isPromptOpen: agent === 'claude-code' && input['agent_id'] === undefined,
  };
}

/** The tool of Claude Code that asks questions. */
export const ASKING_TOOL = 'AskUserQuestion';

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

/** A request has no id before its tool runs, so its input identifies it. */
function subjectOf(input: Fields): string {
  const toolInput = input['tool_input'];
  // The answers to a question are part of the input of the tool that ran.
  const asked = input['tool_name'] === ASKING_TOOL ? recordOf(toolInput)['questions'] : toolInput;
  return `tool-${digest([textIn(input['session_id']), input['tool_name'], asked])}`;
}

function sessionOf(input: Fields): { readonly id: string; readonly title: string } {
  const id = textIn(input['session_id'] ?? input['thread-id']);
  return { id, title: basename(textIn(input['cwd'])) };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function digest(subject: unknown): string {
  return hash('sha256', JSON.stringify(subject), 'base64url').slice(0, 32);
}
