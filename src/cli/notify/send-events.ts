import { fetch as fetchAsSenders } from 'undici';
import { buildPreviews } from '../../client/notifications/notification-display.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../notify/content/notification-event.js';
import type { SavedPushToken } from '../../client/api/api-client-answers.js';
import type { Delivery } from '../../notify/delivery/delivery.js';
import {
  outcomesWithoutSettings,
  planNotification,
  type Plan,
} from '../../notify/delivery/plan.js';
import { readPreferences, type Preferences } from '../../notify/preferences.js';
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
import { isUnreadable, readSettings } from './settings-document.js';

type Context = CliContext<EventOptions>;

interface PlannedEvent extends Plan {
  readonly event: NotificationEvent;
}

/** Above this, deliveries are claimed as they are tried, so that no lease expires before. */
const MAX_CLAIMED_AT_ONCE = 50;

/**
 * Sends the events of the options, or of --event-file.
 *
 * @param topic null = each event names its own
 */
export async function sendEvents(
  context: Context,
  topic: NotificationTopic | null,
): Promise<number> {
  // The senders need undici anyway, and loading Node's own copy as well takes as long again.
  const current = await requireSession(context, fetchAsSenders as unknown as typeof fetch);
  const input = await readEventInput(context, topic, current.session.server);
  reportInvalid(context, input);
  const [document, tokens] = await Promise.all([
    readSettings(context, current).catch(unreadableSettings),
    current.client.pushTokens(),
  ]);
  if (document instanceof CliError) {
    return reportUnreadable(context, input, tokens, document);
  }
  const preferences = readPreferences(document.fields);
  reportSettings(context, preferences);
  const { isBuiltIn: requestPreviews } = buildPreviews(context.environment);
  const maskSecrets = context.options.mask !== false;
  const options = { now: Date.now(), requestPreviews, maskSecrets };
  const planned = input.events.map((event) => ({
    event,
    ...planNotification(event, preferences, tokens, options),
  }));
  return withSenderSession(context, async (sender) => {
    try {
      sender.accounts.remember(current, document, tokens);
      const known = await deliverAll(context, sender, current, planned);
      const lines = planned.flatMap((one) => report(context, one, sender, known));
      const exitCode = exitCodeOf(lines);
      return exitCode === EXIT.ok && input.invalid.length > 0 ? EXIT.usage : exitCode;
    } finally {
      if (context.options.background !== false) {
        await retryInBackground(context, sender);
      }
    }
  });
}

function unreadableSettings(error: unknown): CliError {
  if (isUnreadable(error)) {
    return error;
  }
  throw error;
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
  context: Context,
  sender: SenderSession,
  current: CurrentSession,
  planned: readonly PlannedEvent[],
): Promise<ReadonlySet<string>> {
  const deliveries = planned.flatMap((plan) => plan.deliveries);
  if (deliveries.length === 0) {
    return new Set();
  }
  const entries = sender.entriesOf(deliveries, current);
  const isLarge = deliveries.length > MAX_CLAIMED_AT_ONCE;
  const added = await sender.spool.add(entries, isLarge ? Date.now() : undefined);
  if (added.displaced.length > 0) {
    const count = added.displaced.length;
    context.output.note(`The spool is full: ${count} waiting deliveries were dropped.`);
  }
  const known = new Set(added.known);
  await sender.learnKnown(known);
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

/** Sent before, not tried in this round, or being sent by another process. */
function untried(delivery: Delivery, isKnown: boolean): ReportLine {
  return lineOfDelivery(
    delivery,
    isKnown
      ? { state: 'known' }
      : { state: 'waiting', code: 'not-tried', detail: 'Others to it failed.', nextAt: 0 },
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
