import { replacementFor, type DeliveryEntry } from '../spool/spool-entry.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { retryInBackground } from './flush.js';
import { describeLine, exitCodeOf } from './report.js';
import { withSenderSession, type SenderOptions, type SenderSession } from './sender-session.js';

export type ResolveOptions = SenderOptions & {
  readonly request?: string;
  readonly session?: string;
  readonly background?: boolean;
};

/** Drops the waiting deliveries of an answered request, and replaces its notifications. */
export async function resolve(context: CliContext<ResolveOptions>): Promise<number> {
  const { request, session, background } = context.options;
  if (request === undefined) {
    throw usageError(
      'Name the request that was answered.',
      'gatehouse notify resolve --request ID',
    );
  }
  const current = await requireSession(context);
  return withSenderSession(context, async (sender) => {
    const now = Date.now();
    // First, so that a process with one of its deliveries does not retry it.
    const answered = { account: current.session, requestId: request, sessionId: session ?? null };
    await sender.spool.resolved.add(answered, now);
    const isMeant = matcher(current, request, session);
    const { dropped, inProgress } = await dropWaiting(sender, isMeant);
    const replacements = inProgress.map((entry) => replacementFor(entry, now));
    for (const { entry, ending } of await sender.spool.history.entries()) {
      if (entry.kind === 'delivery' && ending.state === 'sent' && isMeant(entry)) {
        replacements.push(replacementFor(entry, now, ending.messageId));
      }
    }
    const entries = replacements.filter((entry) => entry !== null);
    const added = await sender.spool.add(entries);
    await sender.engine.attemptNow(added.claims);
    const lines = entries.flatMap(({ id }) => sender.lines.get(id) ?? []);
    if (background !== false) {
      await retryInBackground(context, sender);
    }
    const summary = `Request ${request}: ${dropped.length} dropped, ${lines.length} replaced.`;
    const text = [summary, ...lines.map((line) => `  ${describeLine(line)}`)].join('\n');
    context.output.result({ request, dropped, outcomes: lines }, text);
    return exitCodeOf(lines);
  });
}

function matcher({ session }: CurrentSession, requestId: string, sessionId: string | undefined) {
  return ({ account, delivery }: DeliveryEntry): boolean =>
    account.server === session.server &&
    account.accountId === session.accountId &&
    delivery.requestId === requestId &&
    delivery.resolves !== true &&
    (sessionId === undefined || delivery.sessionId === sessionId);
}

/** Deliveries in progress, of a killed process or with a failed attempt may have arrived, so they are replaced. */
async function dropWaiting(
  { spool }: SenderSession,
  isMeant: (entry: DeliveryEntry) => boolean,
): Promise<{ readonly dropped: readonly string[]; readonly inProgress: readonly DeliveryEntry[] }> {
  const dropped: string[] = [];
  const inProgress: DeliveryEntry[] = [];
  for (const { entry, name } of await spool.entries()) {
    if (entry.kind !== 'delivery' || !isMeant(entry)) {
      continue;
    }
    const claim = await spool.claim(name);
    if (claim !== null) {
      const detail = 'The request was answered.';
      await spool.end(claim, { state: 'dropped', code: 'resolved', detail, at: Date.now() });
      dropped.push(entry.id);
    }
    if (claim === null || name.claim !== null || entry.attempts > 0) {
      inProgress.push(entry);
    }
  }
  return { dropped, inProgress };
}
