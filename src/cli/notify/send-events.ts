import { isUnusable } from '../../common/private-files.js';
import { buildPreviews } from '../../client/notifications/notification-display.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../notify/content/notification-event.js';
import type { SavedPushToken } from '../../client/api/api-client-answers.js';
import type { Delivery } from '../../notify/delivery/delivery.js';
import { outcomesWithoutSettings } from '../../notify/delivery/plan.js';
import type { Preferences } from '../../notify/preferences.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT } from '../cli-error.js';
import type { Output } from '../output.js';
import { planEvents, type PendingEvents, type PlannedEvent } from './event-inbox.js';
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
import { isAway, type KnownAccount } from './spool-accounts.js';

type Context = CliContext<EventOptions>;

/** Above this, deliveries are claimed as they are tried, so that no lease expires before. */
const MAX_CLAIMED_AT_ONCE = 50;

/**
 * Sends the events of the options, or of --event-file.
 *
 * @param topic null = each event names its own
 * @param hooked in place of both: the events that a hook reports
 */
export async function sendEvents(
  context: Context,
  topic: NotificationTopic | null,
  hooked?: readonly unknown[],
): Promise<number> {
  const current = await requireSession(context);
  const input = await readEventInput(context, topic, current.session.server, hooked);
  reportInvalid(context, input);
  return withSenderSession(context, async (sender) => {
    try {
      const work = { context, sender, current, input };
      return await sendPending(work, pendingOf(work));
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

function pendingOf({ context, sender, current, input }: Work): PendingEvents {
  const { mask, denyPrivate } = context.options;
  return {
    v: 1,
    account: sender.accounts.nameOf(current),
    events: input.events,
    requestPreviews: buildPreviews(context.environment).isBuiltIn,
    maskSecrets: mask !== false,
    denyPrivate: denyPrivate === true,
  };
}

/** The events are on the disk before the server is asked: neither a kill nor an outage loses them. */
async function sendPending(work: Work, pending: PendingEvents): Promise<number> {
  const { context, sender, current, input } = work;
  const isDetached = context.options.detach === true;
  const kept = await sender.events.add(pending, isDetached).catch(withoutSpool(context));
  if (isDetached && kept !== null) {
    const ids = input.events.map(({ id }) => id);
    context.output.result({ spooled: ids }, `In the spool: ${ids.join(', ')}`);
    return input.invalid.length > 0 ? EXIT.usage : EXIT.ok;
  }
  let account: KnownAccount;
  try {
    account = await sender.accounts.get(pending.account, current);
  } catch (error) {
    return await endWithoutSettings(work, kept, error);
  }
  reportSettings(context, account.preferences);
  const planned = planEvents(pending, account);
  const known = await deliverAll(work, pending, planned, kept);
  const lines = planned.flatMap((one) => report(context, one, sender, known));
  const exitCode = exitCodeOf(lines);
  return exitCode === EXIT.ok && input.invalid.length > 0 ? EXIT.usage : exitCode;
}

/** A server that is away may return before the events expire; everything else ends here. */
async function endWithoutSettings(
  { context, sender, current, input }: Work,
  kept: string | null,
  error: unknown,
): Promise<number> {
  if (kept !== null && isAway(error)) {
    await sender.events.release(kept);
    context.output.note('The events are kept, and sent once the server answers.');
  } else if (kept !== null) {
    await sender.events.remove(kept);
  }
  if (isUnreadable(error)) {
    const tokens = await current.client.pushTokens().catch(() => []);
    return reportUnreadable(context, input, tokens, error);
  }
  throw error;
}

/** Continues where files cannot be written: what cannot be stored is still sent. */
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

/** Nothing is sent: the defaults could show what the person chose to hide. */
function reportUnreadable(
  { output }: Context,
  { events }: EventInput,
  tokens: readonly SavedPushToken[],
  { message, facts }: CliError,
): number {
  const outcomes = outcomesWithoutSettings(tokens, message).map(lineOfOutcome);
  events.forEach((event) => reportEvent(output, event, outcomes));
  if (facts.hint !== undefined) {
    output.note(facts.hint);
  }
  return exitCodeOf(outcomes);
}

/** @returns ids of deliveries that the spool had already */
async function deliverAll(
  { context, sender }: Work,
  pending: PendingEvents,
  planned: readonly PlannedEvent[],
  kept: string | null,
): Promise<ReadonlySet<string>> {
  const deliveries = planned.flatMap((plan) => plan.deliveries);
  const isLarge = deliveries.length > MAX_CLAIMED_AT_ONCE;
  const entries = sender.entriesOf(deliveries, pending);
  const added =
    kept === null || deliveries.length === 0
      ? null
      : await sender.spool
          .add(entries, isLarge ? Date.now() : undefined)
          .catch(withoutSpool(context));
  if (kept !== null) {
    await sender.events.remove(kept);
  }
  if (added === null) {
    await sender.sendUnspooled(deliveries);
    return new Set();
  }
  if (added.displaced.length > 0) {
    const count = added.displaced.length;
    context.output.note(`The spool is full: ${count} waiting deliveries were dropped.`);
  }
  const known = new Set(added.known);
  await sender.learnKnown(known, deliveries);
  await (isLarge ? sender.engine.round() : sender.engine.tryNow(added.claims, deliveries));
  if (context.options.wait === true) {
    const ids = deliveries.map(({ id }) => id);
    await sender.drain(new Set(ids));
    await sender.learnEndings(ids.filter((id) => !known.has(id) || sender.lines.has(id)));
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

/** Sent before, or not tried in this round. */
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

function reportSettings({ output }: Context, { problems }: Preferences): void {
  problems.forEach(({ path, message }) => output.note(`Settings: ${path} ${message}.`));
}
