import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { recordOf } from '../../client/is-record.js';
import { parseJson } from '../../common/parse-json.js';
import { InvalidEvent } from '../../notify/content/read-event.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { readStandardInput, textOf } from '../input.js';
import { Output } from '../output.js';
import type { EventOptions } from './notify.command.js';
import { resolve } from './resolve.js';
import { sendEvents } from './send-events.js';

type Fields = Readonly<Record<string, unknown>>;

/** The meaning of a hook's input: an event to send, an answered request, or nothing. */
export type HookAction =
  | { readonly kind: 'event'; readonly event: object }
  | { readonly kind: 'answered'; readonly request: string; readonly session: string }
  | null;

export const AGENTS = ['claude-code', 'codex'] as const;

/** Prints no result, which agents read as a decision, and never exits with 2, which stops them. */
export async function hook(context: CliContext<EventOptions>): Promise<number> {
  const output = new Output({ out: process.stderr, error: process.stderr }, false);
  try {
    return Math.min(await act({ ...context, output }), EXIT.refused);
  } catch (error) {
    const isUsage = error instanceof CliError && error.facts.exitCode === EXIT.usage;
    if (isUsage || error instanceof InvalidEvent) {
      throw new CliError(error.message, { exitCode: EXIT.refused, code: 'invalid-event' });
    }
    throw error;
  }
}

async function act(context: CliContext<EventOptions>): Promise<number> {
  const [agent = '', argument] = context.args;
  if (!AGENTS.some((known) => known === agent)) {
    throw usageError(`"${agent}" is no agent: ${AGENTS.join(', ')}.`);
  }
  // Codex passes the event of its `notify` setting as an argument, and those of hooks on stdin.
  const text = argument ?? textOf(await readStandardInput());
  const action = readHook(recordOf(parseJson(text)));
  if (action === null) {
    return EXIT.ok;
  }
  const { options } = context;
  if (action.kind === 'answered') {
    const { request, session } = action;
    return resolve({ ...context, options: { ...options, request, session } });
  }
  const detached = { ...context, options: { ...options, detach: true } };
  return sendEvents(detached, null, [action.event]);
}

/** Returns null for input that needs no notification. */
export function readHook(input: Fields): HookAction {
  switch (input['hook_event_name'] ?? input['type']) {
    case 'Stop':
      return eventOf(input, { topic: 'ready', messageText: input['last_assistant_message'] });
    case 'agent-turn-complete':
      return eventOf(input, { topic: 'ready', messageText: input['last-assistant-message'] });
    case 'PermissionRequest':
      return requestOf(input);
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'answered', request: requestIdOf(input), session: sessionIdOf(input) };
    case 'Notification':
      return ofNotification(input);
    default:
      return null;
  }
}

function eventOf(input: Fields, fields: object): HookAction {
  const turn = input['turn_id'] ?? input['turn-id'];
  const session = { sessionId: sessionIdOf(input), title: basename(textIn(input['cwd'])) };
  // Two settings of one agent may report the same turn, which is sent once.
  const id = typeof turn === 'string' ? { id: `turn-${digest([session.sessionId, turn])}` } : {};
  return { kind: 'event', event: { session, ...id, ...fields } };
}

function requestOf(input: Fields): HookAction {
  const toolName = textIn(input['tool_name']);
  const topic = toolName === 'AskUserQuestion' ? 'user_action_request' : 'permission_request';
  const request = { requestId: requestIdOf(input), toolName, details: input['tool_input'] };
  return eventOf({ ...input, turn_id: undefined }, { topic, request });
}

const TOPICS_OF_NOTIFICATIONS = new Map([
  ['permission_prompt', 'permission_request'],
  ['elicitation_dialog', 'user_action_request'],
]);

/** Agents without a hook for permission requests report them as notifications. */
function ofNotification(input: Fields): HookAction {
  const topic = TOPICS_OF_NOTIFICATIONS.get(textIn(input['notification_type']));
  const explanation = textIn(input['message']);
  const requestId = `notice-${digest([sessionIdOf(input), explanation, Date.now()])}`;
  return topic === undefined
    ? null
    : eventOf(input, { topic, request: { requestId, details: { explanation } } });
}

/** A request has no id before its tool runs, so its input identifies it. */
function requestIdOf(input: Fields): string {
  return `tool-${digest([sessionIdOf(input), input['tool_name'], input['tool_input']])}`;
}

function sessionIdOf(input: Fields): string {
  return textIn(input['session_id'] ?? input['thread-id']);
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function digest(subject: unknown): string {
  return hash('sha256', JSON.stringify(subject), 'base64url').slice(0, 32);
}
