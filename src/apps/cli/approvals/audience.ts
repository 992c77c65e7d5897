import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import type { CurrentSession } from '../account/current-session.js';
import { hasTarget, type NoticeContext } from './notice.js';

/** The devices, webhooks and pages that show a request. */
export interface Audience {
  /** True if a device or a webhook of the account is notified. */
  readonly isNotified: boolean;
  /** Names of the account's pages that are open. */
  readonly openPages: readonly string[];
}

/** An open page uses its session all the time, and `lastSeenAt` is right to five minutes. */
const OPEN_FOR_MS = 6 * 60_000;

/** Returns null where nothing shows the request. */
export async function audienceOf(
  context: NoticeContext,
  current: CurrentSession,
  request: AgentRequest,
): Promise<Audience | null> {
  const [isNotified, openPages] = await Promise.all([
    hasTarget(context, current, request),
    openPagesOf(current, request.askedAt),
  ]);
  return isNotified || openPages.length > 0 ? { isNotified, openPages } : null;
}

async function openPagesOf({ client }: CurrentSession, now: number): Promise<readonly string[]> {
  // Without the list, the devices and webhooks decide.
  const sessions = await client.sessions().catch(() => []);
  return sessions
    .filter(({ client: { platform }, current, lastSeenAt }) => {
      const isPage = platform === 'web' && !current;
      return isPage && now - lastSeenAt < OPEN_FOR_MS;
    })
    .map(({ client: { name } }) => name ?? 'a page without a name');
}

/** Says for how long a command waits, where the answer can be given, and how to end the wait. */
export function describeWaiting(
  { isNotified, openPages }: Audience,
  { server, askedAt, expiresAt }: AgentRequest,
): string {
  const seconds = Math.round((expiresAt - askedAt) / 1000);
  const notified = isNotified ? ['on a device that was notified'] : [];
  const pages = openPages.length === 0 ? '' : ` (open: ${openPages.join(', ')})`;
  const places = [...notified, `at ${server}/app/#requests${pages}`, 'by gatehouse requests'];
  return `Waiting ${seconds} s for an answer: ${places.join(', or ')}.
Ctrl-C withdraws the request.`;
}
