import {
  attemptBatch,
  batchesOf,
  DEFAULT_SCHEDULE,
  NO_ANSWER,
  nextAttemptAt,
} from '../../../packages/notify/delivery/attempt.js';
import { unlessUnusable } from '../../../common/private-files.js';
import type { AttemptResult, Delivery } from '../../../packages/notify/delivery/delivery.js';
import { replacementFor, type DeliveryEntry, type SpoolAccount } from '../spool/spool-entry.js';
import type { SpoolName } from '../spool/spool-name.js';
import type { Spool, SpooledDelivery, TargetQueue } from '../spool/spool.js';
import type { LazySenders } from '../spool/lazy-senders.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import { changeChannel } from '../../../packages/notify/settings-changes.js';
import type { Output } from '../output.js';
import { lineOfDelivery, type DeliveryFacts, type ReportLine } from './report.js';
import { changeSettings } from './settings-document.js';
import type { SpoolAccounts } from './spool-accounts.js';

/** Limit of the push service for one request. */
const PUSH_BATCH = 100;
/** Concurrent attempts for one target without batches. */
const TARGET_CONCURRENCY = 4;
/** Consecutive failures after which a target is skipped for the rest of the round. */
const FAILURES_IN_A_ROW = 3;
/** Without their settings, deliveries wait for as long as they are valid. */
const SETTINGS_SCHEDULE = { ...DEFAULT_SCHEDULE, delaysMs: [30_000] };
const TOO_LATE = 'It no longer matters by the next try, so it is not sent late.';
const RESOLVED = 'The request was answered.';
const SUPERSEDED = 'A newer event of the session was sent.';

/** Sends the deliveries of the spool, each target independently of the others. */
export class DeliveryEngine {
  /** The latest result of each attempted or dropped delivery, by id. */
  readonly lines = new Map<string, ReportLine>();

  constructor(
    private readonly spool: Spool,
    private readonly senders: LazySenders,
    private readonly accounts: SpoolAccounts,
    private readonly directives: AnswerDirectives,
  ) {}

  /** Attempts each due delivery once, and drops expired ones. */
  async round(): Promise<void> {
    await this.spool.tidy();
    const targets = await this.spool.dueByTarget();
    await Promise.all(targets.map((target) => this.attemptTarget(target)));
  }

  /** @param complete deliveries that still contain their secrets */
  async attemptNow(
    claims: readonly SpooledDelivery[],
    complete: readonly Delivery[] = [],
  ): Promise<void> {
    const known = new Map(complete.map((delivery) => [delivery.id, delivery]));
    const pushes = claims.filter(({ entry }) => entry.delivery.kind === 'push');
    const others = claims.filter(({ entry }) => entry.delivery.kind !== 'push');
    const batches = [...batchesOf(pushes, PUSH_BATCH), ...batchesOf(others, 1)];
    await Promise.all(batches.map((batch) => this.attempt(batch, known)));
  }

  private async attemptTarget({ isBatched, items }: TargetQueue): Promise<void> {
    const queue = batchesOf(items, isBatched ? PUSH_BATCH : 1);
    let failures = 0;
    const work = async (): Promise<void> => {
      for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
        const isSkipped = failures >= FAILURES_IN_A_ROW;
        const chosen = isSkipped ? batch.filter(hasExpired) : batch;
        const claims = await Promise.all(chosen.map((name) => this.spool.claimDelivery(name)));
        const hasFailed = await this.attempt(claims.filter((claim) => claim !== null));
        failures = hasFailed === false ? 0 : failures + Number(hasFailed ?? 0);
      }
    };
    await Promise.all(Array.from({ length: isBatched ? 1 : TARGET_CONCURRENCY }, work));
  }

  /** @returns true if all failed temporarily; null if nothing was sent */
  private async attempt(
    claims: readonly SpooledDelivery[],
    known?: ReadonlyMap<string, Delivery>,
  ): Promise<boolean | null> {
    const ready: SpooledDelivery[] = [];
    const deliveries: Delivery[] = [];
    for (const claim of claims) {
      const { entry } = claim;
      const delivery = known?.get(entry.id) ?? (await this.accounts.renew(entry));
      if (hasExpired(entry.delivery)) {
        await this.drop(claim, 'expired', TOO_LATE);
      } else if (await this.spool.resolved.has(entry)) {
        await this.drop(claim, 'resolved', RESOLVED);
      } else if (await this.spool.newest.isSuperseded(entry)) {
        await this.drop(claim, 'superseded', SUPERSEDED);
      } else if ('kind' in delivery) {
        ready.push(claim);
        deliveries.push(delivery);
      } else {
        await this.settle(claim, delivery, false);
      }
    }
    const [first] = ready;
    if (first === undefined) {
      return null;
    }
    const results = await attemptBatch(deliveries, this.senders.of(first.entry));
    await Promise.all(ready.map((claim, index) => this.settle(claim, results[index] ?? NO_ANSWER)));
    return results.every((one) => one.state === 'failed' && one.isTemporary);
  }

  /** @param isTried false = its settings could not be read, or no longer want it */
  private async settle(
    claim: SpooledDelivery,
    result: AttemptResult,
    isTried = true,
  ): Promise<void> {
    const { entry } = claim;
    const { delivery } = entry;
    const attempts = entry.attempts + Number(isTried);
    const at = Date.now();
    if (result.state === 'sent') {
      const { receiptId, messageId } = result;
      if (receiptId !== undefined && delivery.kind === 'push') {
        await this.spool.expectReceipt(entry, { receiptId, token: delivery.token, sentAt: at });
      }
      await this.spool.newest.add(entry).catch(unlessUnusable);
      const named = messageId === undefined ? {} : { messageId };
      await this.spool.end(claim, { state: 'sent', code: null, at, ...named }, attempts);
      await this.note(entry, { state: 'sent', attempts }, result);
      await this.replaceIfAnswered(entry, messageId);
      return;
    }
    const { code, detail, isTemporary } = result;
    const nextAt = isTried
      ? nextAttemptAt(delivery, result, attempts, at, DEFAULT_SCHEDULE)
      : nextAttemptAt(delivery, result, 1, at, SETTINGS_SCHEDULE);
    if (nextAt !== null) {
      await this.spool.putBack(claim, nextAt, { code, detail, at }, attempts);
      await this.note(entry, { state: 'waiting', attempts, code, detail, nextAt }, result);
      return;
    }
    const isTooLate = isTemporary && DEFAULT_SCHEDULE.delaysMs.length >= attempts;
    const state = isTooLate ? 'dropped' : 'failed';
    const why = isTooLate ? `${detail} ${TOO_LATE}` : detail;
    await this.spool.end(claim, { state, code, detail: why, at }, attempts);
    await this.note(entry, { state, attempts, code, detail }, result);
  }

  /** A request that was answered during the attempt: its message may have arrived after the replacement. */
  private async replaceIfAnswered(entry: DeliveryEntry, messageId?: string): Promise<void> {
    if (await this.spool.resolved.has(entry)) {
      const shown = { ...entry, delivery: { ...entry.delivery, id: `${entry.id}-late` } };
      const replacement = replacementFor(shown, Date.now(), messageId);
      const added = await this.spool
        .add(replacement === null ? [] : [replacement])
        .catch(unlessUnusable);
      await this.attempt(added?.claims ?? []);
    }
  }

  private async drop(claim: SpooledDelivery, code: string, detail: string): Promise<void> {
    const { delivery, attempts } = claim.entry;
    await this.spool.end(claim, { state: 'dropped', code, detail, at: Date.now() });
    this.lines.set(delivery.id, lineOfDelivery(delivery, { state: 'dropped', attempts, code }));
  }

  private async note(
    entry: DeliveryEntry,
    facts: DeliveryFacts,
    result: AttemptResult,
  ): Promise<void> {
    this.lines.set(entry.id, lineOfDelivery(entry.delivery, facts));
    await this.directives.apply(entry, result);
  }
}

function hasExpired({ expiresAt }: Pick<SpoolName, 'expiresAt'>): boolean {
  return expiresAt <= Date.now();
}

/** Carries out the directives of answers; a failure is only noted, because the delivery has ended. */
export class AnswerDirectives {
  constructor(
    private readonly accounts: SpoolAccounts,
    private readonly output: Output,
  ) {}

  async apply({ account, delivery, id }: DeliveryEntry, result: AttemptResult): Promise<void> {
    const { directive } = result;
    if (directive === 'delete-token' && delivery.kind !== 'webhook') {
      await this.deleteToken(account, delivery.token, { deliveryId: id, sentAt: Date.now() });
    } else if (directive === 'disable-channel' && delivery.kind === 'webhook') {
      await this.acting(id, () => this.disableChannel(account, delivery.channelId));
    }
  }

  /** Removes a token that the push service reports as unregistered. */
  async deleteToken(
    account: SpoolAccount,
    token: string,
    { deliveryId, sentAt }: { readonly deliveryId: string; readonly sentAt: number },
  ): Promise<void> {
    await this.acting(deliveryId, async () => {
      const { client } = (await this.accounts.get(account)).current;
      const saved = (await client.pushTokens()).find((one) => one.token === token);
      // The app may have registered it again since.
      if (saved !== undefined && saved.updatedAt <= sentAt) {
        await client.removePushToken(token);
        this.output.note(`Removed the push token ${maskedToken(token)}: no device has it.`);
      }
    });
  }

  private async disableChannel(account: SpoolAccount, id: string): Promise<void> {
    const { context, current } = await this.accounts.get(account);
    await changeSettings(context, current, (fields) =>
      changeChannel(fields, id, { enabled: false }),
    );
    this.output.note(`Disabled the webhook ${id}, as it requested.`);
  }

  private async acting(deliveryId: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.output.note(`Acting on the answer to ${deliveryId} failed: ${why}`);
    }
  }
}
