import { basename } from 'node:path';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import type { NotificationEvent } from '../../../packages/notify/content/notification-event.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import type { CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { resolve } from '../notify/resolve.js';
import { sendEvents } from '../notify/send-events.js';
import { withSenderSession, type SenderOptions } from '../notify/sender-session.js';

export type NoticeContext = CliContext<SenderOptions>;

/** Notifies the account's devices and webhooks of a request, as its preferences say. */
export async function notifyOf(
  context: NoticeContext,
  request: AgentRequest,
  digest?: string,
): Promise<void> {
  const options = { ...context.options, detach: true };
  try {
    await sendEvents({ ...context, options }, null, [eventOf(request, digest)]);
  } catch (error) {
    context.output.note(`The notification failed: ${textOf(error)}`);
  }
}

/** Takes the notifications of an ended request back where a channel can. */
export async function takeBack(context: NoticeContext, requestId: string): Promise<void> {
  try {
    await resolve({ ...context, options: { ...context.options, request: requestId } });
  } catch (error) {
    context.output.note(`The notification stays: ${textOf(error)}`);
  }
}

/** Returns false where no device and no webhook would be notified; true where that is not known. */
export async function hasTarget(
  context: NoticeContext,
  current: CurrentSession,
  request: AgentRequest,
): Promise<boolean> {
  const event: NotificationEvent = readEvent(
    { serverUrl: current.session.server, ...eventOf(request) },
    Date.now(),
  );
  return withSenderSession(context, async (sender) => {
    const entry = sender.accounts.entryOf(current, [event]);
    try {
      const { planned } = await sender.accounts.plan(entry, current);
      return planned.some(({ deliveries }) => deliveries.length > 0);
    } catch {
      return true;
    }
  });
}

/**
 * Returns the event of a request, in the form of an event file.
 * @param digest of a request that can be answered on a device
 */
export function eventOf(
  { requestId, kind, session, cwd, tool, questions }: AgentRequest,
  digest?: string,
): object {
  const title = session.title === '' ? basename(cwd) : session.title;
  const asked = questions?.map(({ text, options, multiple, custom }) => ({
    question: text,
    options: options.map(({ label, description }) => ({ label, description })),
    allowsSeveral: multiple,
    allowsCustomAnswer: custom,
  }));
  return {
    topic: kind === 'permission' ? 'permission_request' : 'user_action_request',
    // The same request is notified once, however often its hook runs.
    id: `ask-${requestId}`,
    session: { sessionId: session.id, title },
    request: {
      requestId,
      digest,
      toolName: tool?.name ?? '',
      details: kind === 'permission' ? tool?.input : { questions: asked },
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
