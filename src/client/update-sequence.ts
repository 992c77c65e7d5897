/** Updates that were missed: the state they were about has to be asked for again. */
export interface UpdateGap {
  /** `seq` of the first and the last of them. */
  readonly from: number;
  readonly to: number;
  /** The account counts from an earlier point than it did: the server's data was put back. */
  readonly isReset: boolean;
}

/**
 * Which updates of an account have been seen. Several that happen at one moment may arrive in
 * another order than they count, so what is missing is only certain after a while.
 */
export class UpdateSequence {
  private readonly ahead = new Set<number>();
  private newestAtConnect = 0;

  /** @param seenUpTo all updates up to here are known; null = whatever the server says first */
  constructor(private seenUpTo: number | null) {}

  /** Everything up to here was seen, or reported as missed. null before the first word. */
  get position(): number | null {
    return this.seenUpTo;
  }

  /** A connection begins. */
  begin(): void {
    this.newestAtConnect = this.newest();
  }

  /** The server said where the account stands: what is missing up to there will not come. */
  hello(seq: number): UpdateGap | null {
    if (this.seenUpTo === null) {
      this.moveTo(seq);
      return null;
    }
    if (seq < this.newestAtConnect) {
      this.ahead.clear();
      this.seenUpTo = seq;
      return { from: 1, to: seq, isReset: true };
    }
    const gap = this.gapUpTo(seq);
    this.moveTo(Math.max(seq, this.seenUpTo));
    return gap;
  }

  /** An update came. @returns whether an earlier one has not */
  update(seq: number): boolean {
    if (this.seenUpTo === null) {
      this.moveTo(seq);
    } else if (seq > this.seenUpTo) {
      this.ahead.add(seq);
      this.moveTo(this.seenUpTo);
    }
    return this.ahead.size > 0;
  }

  /** Gives up waiting: what is still missing counts as missed. */
  settle(): UpdateGap | null {
    const newest = this.newest();
    const gap = this.gapUpTo(newest);
    this.moveTo(newest);
    return gap;
  }

  private newest(): number {
    return Math.max(this.seenUpTo ?? 0, ...this.ahead);
  }

  private gapUpTo(last: number): UpdateGap | null {
    // The one after `seenUpTo` is always missing, else it would have been counted in.
    const from = (this.seenUpTo ?? 0) + 1;
    let to = last;
    while (this.ahead.has(to)) {
      to -= 1;
    }
    return to < from ? null : { from, to, isReset: false };
  }

  private moveTo(seq: number): void {
    let position = seq;
    while (this.ahead.has(position + 1)) {
      position += 1;
    }
    this.ahead.forEach((one) => one <= position && this.ahead.delete(one));
    this.seenUpTo = position;
  }
}
