import { randomUUID } from 'node:crypto';
import type { AttemptResult, Delivery } from '../../notify/delivery.js';
import { outcomeOf } from '../../notify/deliver.js';
import { planNotification, type SavedToken } from '../../notify/plan.js';
import type { Preferences, WebhookChannel } from '../../notify/preferences.js';
import { readEvent } from '../../notify/read-event.js';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { lineOfOutcome, type ReportLine } from './notify-report.js';
import { NotifyWork } from './notify-work.js';

/** A target's line, with the id under which its receipt can be asked for. */
export type TestLine = ReportLine & { readonly receiptId?: string };

export interface TestTargets {
  readonly channels: readonly WebhookChannel[];
  readonly tokens: readonly SavedToken[];
}

const ALL_TOPICS = { ready: true, permission_request: true, user_action_request: true };
const SWITCHES = { readyIncludeMessageText: true, requestPreviews: true };

/**
 * Sends a harmless ready event to these targets, whatever is switched off, and tries each once.
 * Nothing of it is kept in the spool.
 */
export async function deliverTest(
  context: CliContext,
  { channels, tokens }: TestTargets,
): Promise<readonly TestLine[]> {
  const { session } = await requireSession(context);
  const preferences: Preferences = {
    push: { enabled: true, topics: ALL_TOPICS, ...SWITCHES },
    channels: channels.map((one) => ({ ...one, ...SWITCHES, enabled: true, topics: ALL_TOPICS })),
    problems: [],
  };
  const plan = planNotification(testEvent(session.server), preferences, tokens, {
    now: Date.now(),
  });
  const results = new Map<Delivery, AttemptResult>();
  const work = new NotifyWork(context);
  try {
    await work.tryOnce(plan.deliveries, (delivery, result) => results.set(delivery, result));
  } finally {
    await work.senders.close();
  }
  const refused = plan.outcomes.filter(({ state }) => state === 'failed').map(lineOfOutcome);
  return [...refused, ...plan.deliveries.map((one) => lineOf(one, results.get(one)))];
}

function lineOf(delivery: Delivery, result: AttemptResult | undefined): TestLine {
  const outcome = outcomeOf(delivery, result ?? NO_ANSWER, 1);
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
      messageText: 'This is a test. If you can read it, this way works.',
      metadata: { test: true },
    },
    Date.now(),
  );
}

const NO_ANSWER: AttemptResult = {
  state: 'failed',
  code: 'no-answer',
  detail: 'There was no answer.',
  isTemporary: true,
};
