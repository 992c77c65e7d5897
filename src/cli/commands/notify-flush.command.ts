import { maskedToken } from '../../notify/push-token.js';
import type { ReceiptResult } from '../../notify/push-receipts.js';
import { RECEIPT_LANE, collectReceipts } from '../../notify/spool-receipts.js';
import type { ReceiptEntry } from '../../notify/spool-entry.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { asFlusher } from './notify-background.js';
import { notifyOptions } from './notify-options.js';
import { exitCodeOf, wordsOfLine } from './notify-report.js';
import { untilNothingWaits } from './notify-wait.js';
import { NotifyWork } from './notify-work.js';

/** Tries what waits in the spool and is due; with --wait until nothing waits any more. */
export async function flush(context: CliContext): Promise<number> {
  const work = new NotifyWork(context);
  try {
    if (notifyOptions(context).wait === true) {
      await asFlusher(context, () => untilNothingWaits(work));
    } else {
      await work.runner.round();
    }
    await askForReceipts(work, () => undefined);
  } finally {
    await work.senders.close();
  }
  const lines = [...work.lines.values()];
  const waiting = (await work.spool.waiting()).filter(({ lane }) => lane !== RECEIPT_LANE).length;
  const words = [...lines.map(wordsOfLine), `${lines.length} tried, ${waiting} waiting.`];
  context.output.result({ tried: lines, waiting }, words.join('\n'));
  return exitCodeOf(lines);
}

/** Asks the push service what became of the pushes it accepted at least 15 minutes ago. */
export async function receipts(context: CliContext): Promise<number> {
  const work = new NotifyWork(context);
  const found: ReceiptLine[] = [];
  try {
    await askForReceipts(work, (line) => found.push(line));
  } finally {
    await work.senders.close();
  }
  const waiting = (await work.spool.waiting()).filter(({ lane }) => lane === RECEIPT_LANE).length;
  const words = [...found.map(wordsOf), `${found.length} asked for, ${waiting} waiting.`];
  context.output.result({ receipts: found, waiting }, words.join('\n'));
  return found.some(({ state }) => state === 'failed' || state === 'lost') ? EXIT.refused : EXIT.ok;
}

interface ReceiptLine {
  readonly deliveryId: string;
  readonly token: string;
  readonly state: ReceiptResult['state'];
  readonly code?: string;
  readonly detail?: string;
}

async function askForReceipts(work: NotifyWork, tell: (line: ReceiptLine) => void): Promise<void> {
  const onReceipt = async (entry: ReceiptEntry, result: ReceiptResult): Promise<void> => {
    const { deliveryId, token, sentAt } = entry;
    const why = result.state === 'failed' ? { code: result.code, detail: result.detail } : {};
    tell({ deliveryId, token: maskedToken(token), state: result.state, ...why });
    if (result.state === 'failed' && result.directive === 'delete-token') {
      await work.deleteToken(entry.account, token, { deliveryId, sentAt });
    }
  };
  await collectReceipts({
    spool: work.spool,
    ask: async (tickets) =>
      tickets.length === 0 ? [] : (await work.senders.expo()).receipts(tickets),
    now: Date.now,
    onReceipt,
  });
}

function wordsOf({ deliveryId, token, state, detail }: ReceiptLine): string {
  const became = {
    delivered: "handed to the phone's notification service",
    pending: 'not known yet',
    lost: 'the push service no longer knows',
    failed: `failed: ${detail ?? ''}`,
  };
  return `push ${token}  ${became[state]} (${deliveryId})`;
}
