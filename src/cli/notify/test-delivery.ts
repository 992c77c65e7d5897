import { randomUUID } from 'node:crypto';
import type { Outcome } from '../../notify/delivery/delivery.js';
import { planNotification, type SavedToken } from '../../notify/delivery/plan.js';
import type { Preferences } from '../../notify/preferences.js';
import { readEvent } from '../../notify/content/read-event.js';
import { requireSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { lineOfOutcome, type ReportLine } from './report.js';
import { withSenderSession, type SenderOptions } from './sender-session.js';

/** A target's line, with the id of its receipt. */
export type TestLine = ReportLine & { readonly receiptId?: string };

export type TestTargets = Pick<Preferences, 'webPushKey' | 'channels'> & {
  readonly tokens: readonly SavedToken[];
};

const ALL_TOPICS = { ready: true, permission_request: true, user_action_request: true };
const SWITCHES = { readyIncludeMessageText: true, requestPreviews: true };

/** Sends a test event to these targets, also to disabled ones: one attempt each, not spooled. */
export async function deliverTest(
  context: CliContext<SenderOptions>,
  { webPushKey, channels, tokens }: TestTargets,
): Promise<readonly TestLine[]> {
  const { session } = await requireSession(context);
  const preferences: Preferences = {
    push: { enabled: true, topics: ALL_TOPICS, ...SWITCHES },
    foregroundBehavior: 'full',
    webPushKey,
    channels: channels.map((one) => ({ ...one, ...SWITCHES, enabled: true, topics: ALL_TOPICS })),
    brokenChannels: [],
    problems: [],
  };
  const plan = planNotification(testEvent(session.server), preferences, tokens, {
    now: Date.now(),
  });
  const outcomes = await withSenderSession(context, (sender) =>
    sender.attemptOnce(plan.deliveries),
  );
  const refused = plan.outcomes.filter(({ state }) => state === 'failed').map(lineOfOutcome);
  return [...refused, ...outcomes.map(lineOf)];
}

function lineOf(outcome: Outcome): TestLine {
  const receiptId = outcome.state === 'sent' ? outcome.receiptId : undefined;
  return { ...lineOfOutcome(outcome), ...(receiptId !== undefined && { receiptId }) };
}

function testEvent(serverUrl: string) {
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
