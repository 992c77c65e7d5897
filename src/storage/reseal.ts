import type { ContentAtRest } from './content-at-rest.js';
import type { Database } from './database.js';
import {
  countRows,
  nextRows,
  replaceValue,
  RESEAL_PURPOSES,
  type ResealPurpose,
  type ResealQuestion,
  type ResealRow,
} from './reseal-rows.js';
import { BrokenSealError, type SealedBox } from './sealed-box.js';

/** How far one kind of value is. */
export interface ResealProgress {
  readonly purpose: ResealPurpose;
  readonly renewed: number;
  /** Values that no master secret of this process opens: they were left as they are. */
  readonly unreadable: number;
  /** As many as were to be renewed when it began. */
  readonly total: number;
}

/** Values read at a time; each is replaced by a statement of its own, so that nobody waits. */
const BATCH = 200;
/** A running server that still seals with the old secret makes new work: it is not chased for ever. */
const PASSES = 3;

/**
 * Renews every lasting seal under the current master secret, and seals what was kept plain where the
 * settings now say so. It can be ended and begun again at any time, beside running servers: whatever
 * is renewed is no longer looked for, and each value is old or new, never neither.
 */
export class Reseal {
  constructor(
    private readonly database: Database,
    private readonly box: SealedBox,
    private readonly atRest: ContentAtRest,
  ) {}

  /** @param tell called after every batch */
  async run(tell: (progress: ResealProgress) => void): Promise<ResealProgress[]> {
    const results: ResealProgress[] = [];
    for (const purpose of RESEAL_PURPOSES) {
      results.push(await this.renew(purpose, tell));
    }
    return results;
  }

  private async renew(
    purpose: ResealPurpose,
    tell: (progress: ResealProgress) => void,
  ): Promise<ResealProgress> {
    const question = this.questionOf(purpose);
    const total = await countRows(this.database.query, purpose, question);
    let progress: ResealProgress = { purpose, renewed: 0, unreadable: 0, total };
    for (let pass = 0; pass < PASSES; pass += 1) {
      const before = progress.renewed;
      progress = await this.pass(question, { ...progress, unreadable: 0 }, tell);
      const left = await countRows(this.database.query, purpose, question);
      if (left <= progress.unreadable || progress.renewed === before) {
        break;
      }
    }
    return progress;
  }

  private async pass(
    question: ResealQuestion,
    begun: ResealProgress,
    tell: (progress: ResealProgress) => void,
  ): Promise<ResealProgress> {
    const { purpose } = begun;
    let progress = begun;
    let after: ResealRow | null = null;
    for (;;) {
      const rows: ResealRow[] = await nextRows(
        this.database.query,
        purpose,
        question,
        after,
        BATCH,
      );
      for (const row of rows) {
        const outcome = await this.renewOne(purpose, row);
        if (outcome !== 'overtaken') {
          progress = { ...progress, [outcome]: progress[outcome] + 1 };
        }
      }
      after = rows.at(-1) ?? null;
      if (rows.length > 0) {
        tell(progress);
      }
      if (rows.length < BATCH) {
        return progress;
      }
    }
  }

  private async renewOne(
    purpose: ResealPurpose,
    row: ResealRow,
  ): Promise<'renewed' | 'unreadable' | 'overtaken'> {
    const { owner, isSealed, bytes } = row;
    try {
      const text = isSealed ? this.box.open(purpose, owner, bytes) : bytes.toString('utf8');
      const sealed = this.box.seal(purpose, owner, text);
      const isReplaced = await replaceValue(this.database.query, purpose, row, sealed);
      return isReplaced ? 'renewed' : 'overtaken';
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return 'unreadable';
      }
      throw error;
    }
  }

  private questionOf(purpose: ResealPurpose): ResealQuestion {
    const isPlainMeant = purpose !== 'identity-credentials' && this.atRest.isSealing(purpose);
    return { keyId: this.box.currentKeyId(purpose), isPlainMeant };
  }
}
