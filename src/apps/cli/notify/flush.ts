import { spawn } from 'node:child_process';
import { open, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import {
  changedAt,
  makePrivateDirectory,
  namesIn,
  unlessUnusable,
} from '../../../common/private-files.js';
import { genericDelivery } from '../../../packages/notify/delivery/delivery.js';
import { batchesOf } from '../../../packages/notify/delivery/attempt.js';
import { RECEIPT_TARGET, type ReceiptEntry } from '../spool/spool-entry.js';
import { hasEnded, ownerOfThisProcess } from '../spool/spool-name.js';
import { spoolDirectory, type Claim, type Spool } from '../spool/spool.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import {
  isTooBig,
  RECEIPT_AFTER_MS,
  type ReceiptResult,
} from '../../../packages/notify/push/push-results.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import { describeLine, exitCodeOf, type LineResult, type ReportLine } from './report.js';
import { withSenderSession, type SenderOptions, type SenderSession } from './sender-session.js';

/** Attempts the due deliveries; with --wait, runs until the spool is empty. */
export async function flush(
  context: CliContext<SenderOptions & { readonly wait?: boolean }>,
): Promise<number> {
  return withSenderSession(context, async (sender) => {
    let unplanned: readonly LineResult[] = [];
    if (context.options.wait === true) {
      do {
        await runAsFlusher(context, () => sender.drain());
        // Another command may have seen the mark of this process and started no other.
      } while ((await sender.spool.nextRoundAt()) !== null);
    } else {
      unplanned = await sender.planWaiting(false);
      await sender.engine.round();
    }
    await readReceipts(sender);
    const tried = [...sender.lines.values()];
    const waiting = await countWaiting(sender, (target) => target !== RECEIPT_TARGET);
    const text = [...tried.map(describeLine), `${tried.length} tried, ${waiting} waiting.`];
    context.output.result({ tried, waiting }, text.join('\n'));
    const { found } = sender.spool.damaged;
    found.forEach((file) => context.output.note(`Damaged, and not sent: ${file}`));
    const exitCode = exitCodeOf([...tried, ...unplanned]);
    return exitCode === EXIT.ok && found.length > 0 ? EXIT.refused : exitCode;
  });
}

export async function receipts(context: CliContext): Promise<number> {
  return withSenderSession(context, async (sender) => {
    const found = await readReceipts(sender);
    const waiting = await countWaiting(sender, (target) => target === RECEIPT_TARGET);
    const text = [...found.map(describeReceipt), `${found.length} read, ${waiting} waiting.`];
    context.output.result({ receipts: found, waiting }, text.join('\n'));
    const isLost = found.some(
      ({ state, generic }) => (state === 'failed' || state === 'lost') && generic !== 'sent',
    );
    return isLost ? EXIT.refused : EXIT.ok;
  });
}

interface ReceiptLine {
  readonly deliveryId: string;
  readonly token: string;
  readonly state: ReceiptResult['state'];
  readonly code?: string;
  readonly detail?: string;
  /** The state of the generic text that was sent in place of a message that was too large. */
  readonly generic?: ReportLine['state'];
}

/** Limit of the push service. */
const RECEIPTS_AT_ONCE = 300;

async function readReceipts(sender: SenderSession): Promise<readonly ReceiptLine[]> {
  const { spool, senders } = sender;
  const found: ReceiptLine[] = [];
  const due = (await spool.due()).filter(({ target }) => target === RECEIPT_TARGET);
  for (const batch of batchesOf(due, RECEIPTS_AT_ONCE)) {
    const claimed = await Promise.all(batch.map((name) => spool.claim(name)));
    const claims = claimed.filter((one): one is ReceiptClaim => one?.entry.kind === 'receipt');
    const tickets = claims.map(({ entry }) => entry);
    const results = tickets.length === 0 ? [] : await (await senders.expo()).receipts(tickets);
    for (const [index, claim] of claims.entries()) {
      const result = results[index] ?? { state: 'pending' };
      await settle(spool, claim, result, Date.now());
      found.push(await actOn(sender, claim.entry, result));
    }
  }
  return found;
}

type ReceiptClaim = Claim<ReceiptEntry>;

async function settle(
  spool: Spool,
  claim: ReceiptClaim,
  result: ReceiptResult,
  at: number,
): Promise<void> {
  switch (result.state) {
    case 'pending':
      return spool.putBack(claim, at + RECEIPT_AFTER_MS, null);
    case 'delivered':
      return spool.end(claim, { state: 'sent', code: null, at });
    case 'lost': {
      const detail = 'The push service no longer knows what became of it.';
      return spool.end(claim, { state: 'dropped', code: 'receipt-lost', detail, at });
    }
    case 'failed': {
      const { code, detail } = result;
      return spool.end(claim, { state: 'failed', code, detail, at });
    }
  }
}

async function actOn(
  sender: SenderSession,
  { account, deliveryId, token, sentAt }: ReceiptEntry,
  result: ReceiptResult,
): Promise<ReceiptLine> {
  const { state } = result;
  const generic = isTooBig(result) ? await sendGeneric(sender, deliveryId) : undefined;
  if (state === 'failed' && result.directive === 'delete-token') {
    await sender.directives.deleteToken(account, token, { deliveryId, sentAt });
  }
  const why = state === 'failed' && { code: result.code, detail: result.detail };
  const sentAgain = generic !== undefined && { generic };
  return { deliveryId, token: maskedToken(token), state, ...why, ...sentAgain };
}

/** Sends an ended push again with the generic text; undefined if no text remains to send. */
async function sendGeneric(
  { spool, engine, lines }: SenderSession,
  deliveryId: string,
): Promise<ReportLine['state'] | undefined> {
  for (const { entry } of await spool.history.endingsOf([deliveryId])) {
    const delivery =
      entry.kind === 'delivery' && entry.delivery.kind === 'push'
        ? genericDelivery(entry.delivery)
        : null;
    if (entry.kind === 'delivery' && delivery !== null && delivery.expiresAt > Date.now()) {
      const claim = await spool.redeliver({ ...entry, delivery }, delivery.expiresAt);
      await engine.attemptNow([claim]);
      return lines.get(deliveryId)?.state;
    }
  }
  return undefined;
}

async function countWaiting(
  { spool }: SenderSession,
  isCounted: (target: string) => boolean,
): Promise<number> {
  return (await spool.waiting()).filter(({ target }) => isCounted(target)).length;
}

function describeReceipt({ deliveryId, token, state, detail, generic }: ReceiptLine): string {
  const again = generic === undefined ? '' : ` Its generic text: ${generic}.`;
  const results = {
    delivered: "handed to the phone's notification service",
    pending: 'not known yet',
    lost: 'no longer known to the push service',
    failed: `failed: ${detail ?? ''}${again}`,
  };
  return `push ${token}  ${results[state]} (${deliveryId})`;
}

const MARK = /^flusher\.(?<owner>[\da-z-]{1,80})$/;
const RENEWED_EVERY_MS = 10_000;
/** An older mark is stale: after a restart another program may use its process id. A clock may be set back. */
const COUNTS_FOR_MS = 60_000;

/** A session that waits for a permission sends no further events, which would retry this one. */
export async function retryInBackground(
  context: CliContext<SenderOptions>,
  sender: SenderSession,
): Promise<void> {
  await startFlusher(context, sender).catch(unlessUnusable);
}

async function startFlusher(
  context: CliContext<SenderOptions>,
  { spool }: SenderSession,
): Promise<void> {
  // A receipt keeps no process running until it is due.
  const isWaiting = (await spool.nextRoundAt()) !== null || (await spool.due()).length > 0;
  if (!isWaiting) {
    return;
  }
  const program = process.argv[1];
  if (program !== undefined && !(await hasFlusher(context))) {
    const args = [program, 'notify', 'flush', '--wait'];
    const { server } = context.options;
    // The variable of a GATEHOUSE_TOKEN's server.
    const env = {
      ...context.environment,
      ...(server !== undefined && { GATEHOUSE_SERVER: server }),
    };
    spawn(process.execPath, args, { detached: true, stdio: 'ignore', env }).unref();
  }
}

async function runAsFlusher<Result>(
  { environment }: CliContext,
  work: () => Promise<Result>,
): Promise<Result> {
  const directory = spoolDirectory(environment);
  await makePrivateDirectory(directory);
  const mark = join(directory, `flusher.${ownerOfThisProcess()}`);
  await (await open(mark, 'w', 0o600)).close();
  // Without renewal a second process would retry as well; each delivery still has one owner.
  const renew = () => void utimes(mark, new Date(), new Date()).catch(() => undefined);
  const renewal = setInterval(renew, RENEWED_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await rm(mark, { force: true });
  }
}

async function hasFlusher({ environment }: CliContext): Promise<boolean> {
  const directory = spoolDirectory(environment);
  let isRunning = false;
  for (const name of await namesIn(directory)) {
    const owner = MARK.exec(name)?.groups?.['owner'];
    if (owner === undefined) {
      continue;
    }
    const mark = join(directory, name);
    if (hasEnded(owner) || Math.abs((await changedAt(mark)) - Date.now()) > COUNTS_FOR_MS) {
      await rm(mark, { force: true });
    } else {
      isRunning = true;
    }
  }
  return isRunning;
}
