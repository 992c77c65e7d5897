import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { iosSubtitle } from './notification-display.js';

/** The English texts of a permission request, which senders and devices make alike. */
export const PERMISSION_TEXT = {
  title: (session: string): string =>
    session === '' ? 'Permission needed' : `Permission needed: ${session}`,
  sentence: (tool: string, subject: string): string =>
    tool === '' ? `Permission needed: ${subject}` : `${tool} needs your permission: ${subject}`,
  explanation: (text: string): string => `Why: ${text}`,
};

/** The bodies that show nothing of a request, of senders and of devices whose own switch is off. */
export const GENERIC_BODY = {
  permission_request: 'Something needs your permission to go on.',
  user_action_request: 'A question is waiting for your answer.',
} as const;

/** Names of a tool's input for the words of the agent; the first one with text is sent. */
export const EXPLANATION_NAMES = ['explanation', 'description', 'reason', 'justification'] as const;

export interface NotificationText {
  readonly title: string;
  readonly subtitle: string | null;
  readonly body: string;
}

/** The title of a session without one is the last part of its directory. */
const LAST_PART = /([^/\\]*)[/\\]*$/;

/** The text of a sender that hides, masks and shortens nothing, for a request to run a command. */
export function textOfCommandRequest(
  { session, cwd, tool }: Pick<AgentRequest, 'session' | 'cwd' | 'tool'>,
  command: string,
  explanation: string | null,
): NotificationText {
  const { title, sentence, explanation: why } = PERMISSION_TEXT;
  const name = tool?.name ?? '';
  const lines = [sentence(name, command), ...(explanation === null ? [] : [why(explanation)])];
  return {
    title: title(session.title === '' ? (LAST_PART.exec(cwd)?.[1] ?? '') : session.title),
    subtitle: iosSubtitle('permission_request', name),
    body: lines.join('\n'),
  };
}
