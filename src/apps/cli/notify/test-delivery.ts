import { randomUUID } from 'node:crypto';
import type { Outcome } from '../../../packages/notify/delivery/delivery.js';
import { planNotification, type SavedToken } from '../../../packages/notify/delivery/plan.js';
import { readPreferences, type Preferences } from '../../../packages/notify/preferences.js';
import type { NotificationEvent } from '../../../packages/notify/content/notification-event.js';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import { readWebPushToken } from '../../../packages/client/notifications/web-push.js';
import { isPushToken } from '../../../packages/notify/push/push-message.js';
import { requireSession } from '../account/current-session.js';
import { EXIT, refusedError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { describeLine, lineOfOutcome, type ReportLine } from './report.js';
import { withSenderSession, type SenderOptions } from './sender-session.js';
import { readSettings } from './settings-document.js';

/** A target's line with the id of its receipt. */
export type TestLine = ReportLine & { readonly receiptId?: string };

type TestTargets = Pick<Preferences, 'webPushKey' | 'channels'> & {
  readonly tokens: readonly SavedToken[];
};

const ALL_TOPICS = { ready: true, permission_request: true, user_action_request: true };
const SWITCHES = { readyIncludeMessageText: true, requestPreviews: true };

/**
 * Attempts each target once without the spool, including disabled ones.
 *
 * @param event an example, sent as the switches say. Default: a test whose text is shown in any case
 */
export async function deliverTest(
  context: CliContext<SenderOptions>,
  { webPushKey, channels, tokens }: TestTargets,
  event?: NotificationEvent,
): Promise<readonly TestLine[]> {
  const { session } = await requireSession(context);
  const switches = event === undefined ? SWITCHES : {};
  const preferences: Preferences = {
    push: { enabled: true, topics: ALL_TOPICS, ...SWITCHES },
    foregroundBehavior: 'full',
    // The text of a test reveals nothing.
    receivers: null,
    webPushKey,
    channels: channels.map((one) => ({ ...one, ...switches, enabled: true, topics: ALL_TOPICS })),
    brokenChannels: [],
    problems: [],
  };
  const plan = planNotification(event ?? testEvent(session.server), preferences, tokens, {
    now: Date.now(),
  });
  const outcomes = await withSenderSession(context, (sender) =>
    sender.attemptOnce(plan.deliveries),
  );
  const refused = plan.outcomes.filter(({ state }) => state === 'failed').map(lineOfOutcome);
  return [...refused, ...outcomes.map(lineOf)];
}

/** Sends a test to the push token with this id or value, even if push is switched off. */
export async function testToken(context: CliContext<SenderOptions>): Promise<number> {
  const current = await requireSession(context);
  const [wanted = ''] = context.args;
  const tokens = await current.client.pushTokens();
  const found = tokens.find(({ id, token }) => id === wanted || token === wanted);
  if (found === undefined) {
    throw refusedError(
      'The account has no push token of this id.',
      'not-found',
      'Run: gatehouse tokens list --fields id,name',
    );
  }
  if (!isPushToken(found.token)) {
    throw refusedError(
      `${found.id} is not a push token that this command can send to.`,
      'invalid-push-token',
      'Remove it, and let the app register again: gatehouse tokens remove TOKEN',
    );
  }
  // Only browsers need the account's key: other tokens work with unreadable settings.
  const isBrowser = readWebPushToken(found.token) !== null;
  const webPushKey = isBrowser
    ? readPreferences((await readSettings(context, current)).fields).webPushKey
    : null;
  const [line] = await deliverTest(context, { webPushKey, channels: [], tokens: [found] });
  if (line !== undefined) {
    context.output.result(line, describeLine(line));
  }
  return line?.state === 'sent' ? EXIT.ok : EXIT.refused;
}

function lineOf(outcome: Outcome): TestLine {
  const receiptId = outcome.state === 'sent' ? outcome.receiptId : undefined;
  return { ...lineOfOutcome(outcome), ...(receiptId !== undefined && { receiptId }) };
}

/** Returns the event of a test, with text that says so. */
export function testEvent(serverUrl: string) {
  return readEvent(
    {
      id: `test-${randomUUID()}`,
      topic: 'ready',
      serverUrl,
      session: { sessionId: 'gatehouse-test', title: 'Gatehouse test' },
      messageText: 'This is a test. If you can read it, notifications arrive here.',
      metadata: { test: true },
    },
    Date.now(),
  );
}
