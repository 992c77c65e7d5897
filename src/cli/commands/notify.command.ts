import { fetch as fetchAsSenders } from 'undici';
import { targetOf, type Delivery } from '../../notify/delivery.js';
import type { NotificationEvent, NotificationTopic } from '../../notify/notification-event.js';
import { planNotification, type Plan } from '../../notify/plan.js';
import { readPreferences, type Preferences } from '../../notify/preferences.js';
import { maskedToken } from '../../notify/push-token.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { keepTryingInBackground } from './notify-background.js';
import { readEventInput, type EventInput } from './notify-event-input.js';
import { notifyOptions } from './notify-options.js';
import { exitCodeOf, lineOfOutcome, wordsOfLine, type ReportLine } from './notify-report.js';
import { readSettings, type SettingsDocument } from './notify-settings.js';
import { untilNothingWaits } from './notify-wait.js';
import { NotifyWork } from './notify-work.js';

interface PlannedEvent extends Plan {
  readonly event: NotificationEvent;
}

/** Above this the deliveries are claimed as they are tried, so that no lease runs out in line. */
const MOST_AT_ONCE = 50;

export const ready = (context: CliContext) => notifyOf(context, 'ready');
export const permissionRequest = (context: CliContext) => notifyOf(context, 'permission_request');
export const userActionRequest = (context: CliContext) => notifyOf(context, 'user_action_request');
/** The events of a file, each with its own topic. */
export const send = (context: CliContext) => notifyOf(context, null);

async function notifyOf(context: CliContext, topic: NotificationTopic | null): Promise<number> {
  // The senders need it anyhow, and Node's own copy of it takes as long to load once more.
  const current = await requireSession(context, fetchAsSenders as unknown as typeof fetch);
  const input = await readEventInput(context, topic, current.session.server);
  tellRefused(context, input);
  const [document, tokens] = await Promise.all([
    readSettings(context, current),
    current.client.pushTokens(),
  ]);
  const preferences = readPreferences(document.fields);
  tellSettings(context, document, preferences);
  const options = { now: Date.now(), requestPreviews: arePreviewsBuiltIn(context) };
  const planned = input.events.map((event) => ({
    event,
    ...planNotification(event, preferences, tokens, options),
  }));
  const work = new NotifyWork(context);
  try {
    work.accounts.remember(current, document, tokens);
    const known = await deliverAll(context, work, current, planned);
    const lines = planned.flatMap((one) => report(context, one, work, known));
    const exitCode = exitCodeOf(lines);
    return exitCode === EXIT.ok && input.refused.length > 0 ? EXIT.usage : exitCode;
  } finally {
    await work.senders.close();
    await keepTryingInBackground(context, work);
  }
}

/** @returns ids of deliveries that the spool had already */
async function deliverAll(
  context: CliContext,
  work: NotifyWork,
  current: CurrentSession,
  planned: readonly PlannedEvent[],
): Promise<ReadonlySet<string>> {
  const deliveries = planned.flatMap((plan) => plan.deliveries);
  if (deliveries.length === 0) {
    return new Set();
  }
  const entries = work.entriesOf(deliveries, current);
  const isLarge = deliveries.length > MOST_AT_ONCE;
  const added = await work.spool.add(entries, isLarge ? Date.now() : undefined);
  if (added.displaced.length > 0) {
    const count = added.displaced.length;
    context.output.note(`The spool is full: ${count} deliveries that waited were given up.`);
  }
  const known = new Set(added.known);
  await work.learnKnown(known);
  await (isLarge ? work.runner.round() : work.runner.tryFirst(added.claims, deliveries));
  if (notifyOptions(context).wait === true) {
    const ids = deliveries.map(({ id }) => id);
    await untilNothingWaits(work, new Set(ids));
    await work.learnEndings(ids.filter((id) => !known.has(id) || work.lines.has(id)));
  }
  return known;
}

function report(
  { output }: CliContext,
  { event, deliveries, outcomes }: PlannedEvent,
  work: NotifyWork,
  known: ReadonlySet<string>,
): readonly ReportLine[] {
  const lines = [
    ...outcomes.map(lineOfOutcome),
    ...deliveries.map((delivery): ReportLine => {
      return work.lines.get(delivery.id) ?? untried(delivery, known.has(delivery.id));
    }),
  ];
  const { id, topic } = event;
  const words = [`Event ${id} (${topic})`, ...lines.map((line) => `  ${wordsOfLine(line)}`)];
  output.result({ event: id, topic, outcomes: lines }, words.join('\n'));
  return lines;
}

/** Told before, left alone for this round, or in the hands of another process. */
function untried(delivery: Delivery, isKnown: boolean): ReportLine {
  const { kind, id } = targetOf(delivery);
  const target = { kind, id: kind === 'push' && id !== null ? maskedToken(id) : id };
  const base = { target, deliveryId: delivery.id };
  return isKnown
    ? { ...base, state: 'known' }
    : { ...base, state: 'waiting', code: 'not-tried', detail: 'Others to it failed.', nextAt: 0 };
}

function tellRefused({ output }: CliContext, { events, refused }: EventInput): void {
  if (events.length === 0) {
    throw new CliError(refused.join('\n') || 'There is no event.', {
      exitCode: EXIT.usage,
      code: 'invalid-event',
      hint: 'See what an event looks like: gatehouse notify --help',
    });
  }
  refused.forEach((words) => output.skip(words));
}

function tellSettings(
  { output }: CliContext,
  { file, isEncrypted, isSaved }: SettingsDocument,
  { problems }: Preferences,
): void {
  if (isEncrypted && !isSaved) {
    output.note(
      `The settings of this account are end-to-end encrypted, and ${file} does not exist: sent without request previews, to no webhook.`,
    );
  }
  problems.forEach(({ path, message }) => output.note(`Settings: ${path} ${message}.`));
}

/** The switch of the build (contract, The sender): on unless it says off. */
function arePreviewsBuiltIn({ environment }: CliContext): boolean {
  const { CLIENT_PUBLIC_REQUEST_PREVIEWS: value = '' } = environment;
  return !['0', 'false', 'off', 'no'].includes(value.trim().toLowerCase());
}
