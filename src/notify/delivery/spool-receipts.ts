import { RECEIPT_AFTER_MS, type SentTicket, type ReceiptResult } from '../push/push-results.js';
import { batchesOf } from './engine.js';
import { RECEIPT_LANE, type ReceiptEntry } from './spool-entry.js';
import type { SpoolName } from './spool-name.js';
import type { Claim, Spool } from './spool.js';

export interface ReceiptOptions {
  readonly spool: Spool;
  /** Results in the order of the tickets; never rejects. */
  readonly ask: (tickets: readonly SentTicket[]) => Promise<readonly ReceiptResult[]>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onReceipt: (entry: ReceiptEntry, result: ReceiptResult) => void | Promise<void>;
}

/** The push service answers for so many in one request. */
const BATCH = 300;

/** Asks what became of every push that was accepted 15 minutes ago or earlier. */
export async function collectReceipts(options: ReceiptOptions): Promise<void> {
  const { spool, ask, now } = options;
  const due = (await spool.due()).filter(({ lane }) => lane === RECEIPT_LANE);
  for (const batch of batchesOf(due, BATCH)) {
    const claims = await claimAll(spool, batch);
    const results = await ask(claims.map(({ entry }) => entry));
    for (const [index, claim] of claims.entries()) {
      const result = results[index] ?? { state: 'pending' };
      await settle(spool, claim, result, now());
      await options.onReceipt(claim.entry, result);
    }
  }
}

type ReceiptClaim = Claim & { readonly entry: ReceiptEntry };

async function claimAll(spool: Spool, names: readonly SpoolName[]): Promise<ReceiptClaim[]> {
  const claims = await Promise.all(names.map((name) => spool.claim(name)));
  return claims.filter((claim): claim is ReceiptClaim => claim?.entry.kind === 'receipt');
}

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
