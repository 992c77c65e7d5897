import { isUnusable } from '../../../common/private-files.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../../packages/notify/content/notification-event.js';
import type { SavedPushToken } from '../../../packages/client/api/api-client-answers.js';
import type { Delivery } from '../../../packages/notify/delivery/delivery.js';
import { outcomesWithoutSettings } from '../../../packages/notify/delivery/plan.js';
import type { SpooledEvents } from '../spool/spool.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT } from '../cli-error.js';
import type { Output } from '../output.js';
import { readEventInput, type EventInput } from './event-input.js';
import { retryInBackground } from './flush.js';
import type { EventOptions } from './notify.command.js';
import {
  describeLine,
  exitCodeOf,
  lineOfDelivery,
  lineOfOutcome,
  type ReportLine,
} from './report.js';
import { withSenderSession, type SenderSession } from './sender-session.js';
import { isUnreadable } from './settings-document.js';
import { isUnavailable, type PlannedEvent } from './spool-accounts.js';

type Context = CliContext<EventOptions>;

/** Larger sets are claimed in batches, so that no lease expires before its attempt. */
const MAX_CLAIMED_AT_ONCE = 50;

/** @param topic null = each event names its own */
export async function sendEvents(
  context: Context,
  topic: NotificationTopic | null,
  hookEvents?: readonly unknown[],
): Promise<number> {
  const current = await requireSession(context);
  const input = await readEventInput(context, topic, current.session.server, hookEvents);
  reportInvalid(context, input);
  return withSenderSession(context, async (sender) => {
    try {
      return await sendPlanned({ context, sender, current, input });
    } finally {
      if (context.options.background !== false || context.options.detach === true) {
        await retryInBackground(context, sender);
      }
    }
  });
}

interface Work {
  readonly context: Context;
  readonly sender: SenderSession;
  readonly current: CurrentSession;
  readonly input: EventInput;
}

/** Stores the events before it contacts the server, so that an outage loses none. */
async function sendPlanned(work: Work): Promise<number> {
  const { context, sender, current, input } = work;
  const entry = sender.accounts.entryOf(current, input.events);
  const isDetached = context.options.detach === true;
  const kept = await sender.spool.addEvents(entry, !isDetached).catch(withoutSpool(context));
  if (isDetached && kept !== null) {
    const ids = input.events.map(({ id }) => id);
    context.output.result({ spooled: ids }, `In the spool: ${ids.join(', ')}`);
    return input.invalid.length > 0 ? EXIT.usage : EXIT.ok;
  }
  let plan: Awaited<ReturnType<typeof sender.accounts.plan>>;
  try {
    plan = await sender.accounts.plan(entry, current);
  } catch (error) {
    return await endWithoutSettings(work, kept, error);
  }
  const { planned } = plan;
  for (const { path, message } of plan.preferences.problems) {
    context.output.note(`Settings: ${path} ${message}.`);
  }
  sender.announceReceivers(entry.account);
  const known = await deliverAll(work, planned, kept);
  const lines = planned.flatMap((one) => report(context, one, sender, known));
  const exitCode = exitCodeOf(lines);
  return exitCode === EXIT.ok && input.invalid.length > 0 ? EXIT.usage : exitCode;
}

/** The server may become reachable before the events expire; any other error is final. */
async function endWithoutSettings(
  { context, sender, current, input }: Work,
  kept: SpooledEvents | null,
  error: unknown,
): Promise<number> {
  if (kept !== null && isUnavailable(error)) {
    await sender.putBackEvents(kept, error);
    context.output.note('The events are kept, and sent once the server answers.');
  } else if (kept !== null) {
    await sender.spool.discard(kept);
  }
  if (isUnreadable(error)) {
    const tokens = await current.client.pushTokens().catch(() => []);
    return reportUnreadable(context, input, tokens, error);
  }
  throw error;
}

/** Events that cannot be stored are still sent. */
function withoutSpool({ output }: Context): (error: unknown) => null {
  return (error) => {
    if (!isUnusable(error)) {
      throw error;
    }
    output.note(
      `The spool cannot be written (${error.code}): each target is tried once, and nothing is kept.`,
    );
    return null;
  };
}

/** Sends nothing, because the defaults could show text that the account has disabled. */
function reportUnreadable(
  { output }: Context,
  { events }: EventInput,
  tokens: readonly SavedPushToken[],
  { message, facts }: CliError,
): number {
  const outcomes = outcomesWithoutSettings(tokens, message, facts.code).map(lineOfOutcome);
  events.forEach((event) => reportEvent(output, event, outcomes));
  if (facts.hint !== undefined) {
    output.note(facts.hint);
  }
  return exitCodeOf(outcomes);
}

/** @returns ids of deliveries that were already in the spool */
async function deliverAll(
  { context, sender }: Work,
  planned: readonly PlannedEvent[],
  kept: SpooledEvents | null,
): Promise<ReadonlySet<string>> {
  const deliveries = planned.flatMap((plan) => plan.deliveries);
  const isLarge = deliveries.length > MAX_CLAIMED_AT_ONCE;
  const dueAt = isLarge ? Date.now() : undefined;
  const added =
    kept && (await sender.spool.replace(kept, deliveries, dueAt).catch(withoutSpool(context)));
  if (added === null) {
    if (kept) {
      await sender.spool.discard(kept);
    }
    const sent = await sender.sentEarlier(deliveries);
    // Without the spool, two events of one id in a file would both be sent.
    const distinct = [...new Map(deliveries.map((one) => [one.id, one])).values()];
    await sender.sendUnspooled(distinct.filter(({ id }) => !sent.has(id)));
    return sent;
  }
  if (added.displaced.length > 0) {
    const count = added.displaced.length;
    context.output.note(`The spool is full: ${count} waiting deliveries were dropped.`);
  }
  const known = new Set(added.known);
  await sender.resumeKnown(known, deliveries);
  if (isLarge) {
    await sender.engine.round();
    await sender.loadTaken(deliveries);
  } else {
    await sender.engine.attemptNow(added.claims, deliveries);
  }
  if (context.options.wait === true) {
    const ids = deliveries.map(({ id }) => id);
    await sender.drain(new Set(ids));
    await sender.loadEndings(ids.filter((id) => !known.has(id) || sender.lines.has(id)));
  }
  return known;
}

function report(
  { output }: Context,
  { event, deliveries, outcomes }: PlannedEvent,
  sender: SenderSession,
  known: ReadonlySet<string>,
): readonly ReportLine[] {
  const lines = [
    ...outcomes.map(lineOfOutcome),
    ...deliveries.map((delivery): ReportLine => {
      return sender.lines.get(delivery.id) ?? untried(delivery, known.has(delivery.id));
    }),
  ];
  reportEvent(output, event, lines);
  return lines;
}

function reportEvent(
  output: Output,
  { id, topic }: NotificationEvent,
  lines: readonly ReportLine[],
): void {
  const text = [`Event ${id} (${topic})`, ...lines.map((line) => `  ${describeLine(line)}`)];
  output.result({ event: id, topic, outcomes: lines }, text.join('\n'));
}

/** The line of a delivery that was sent earlier, or not attempted in this round. */
function untried(delivery: Delivery, isKnown: boolean): ReportLine {
  return lineOfDelivery(
    delivery,
    isKnown
      ? { state: 'known' }
      : { state: 'waiting', code: 'not-tried', detail: 'Others to it failed.' },
  );
}

function reportInvalid({ output }: Context, { events, invalid }: EventInput): void {
  if (events.length === 0) {
    throw new CliError(invalid.join('\n') || 'There is no event.', {
      exitCode: EXIT.usage,
      code: 'invalid-event',
      hint: 'For the format of an event, run: gatehouse notify --help',
    });
  }
  invalid.forEach((text) => output.skip(text));
}
