/** Missed updates: read the state they were about again. */
export interface UpdateGap {
  /** `seq` of the first and the last of them. */
  readonly from: number;
  readonly to: number;
  /** The account's sequence is lower than before: the server was restored from a backup. */
  readonly isReset: boolean;
}

/** More than arrive out of order within a moment. */
const MAX_AHEAD = 1000;

/** Simultaneous updates may arrive out of order, so a gap is certain only after a while. */
export class UpdateSequence {
  private readonly ahead = new Set<number>();
  private newestAtConnect = 0;

  /** @param seenUpTo all updates up to here are known; null = starts at the server's first number */
  constructor(private seenUpTo: number | null) {}

  /** Every update up to here was received or reported as missed; null before the first event. */
  get position(): number | null {
    return this.seenUpTo;
  }

  /** True if no more updates can wait for a missing one: {@link settle} now. */
  get isFull(): boolean {
    return this.ahead.size >= MAX_AHEAD;
  }

  begin(): void {
    this.newestAtConnect = this.newest();
  }

  /** @param seq the account's last update: missing ones up to it will not arrive */
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

  /** Records an update. @returns true if an earlier one is missing */
  update(seq: number): boolean {
    if (this.seenUpTo === null) {
      this.moveTo(seq);
    } else if (seq > this.seenUpTo) {
      this.ahead.add(seq);
      this.moveTo(this.seenUpTo);
    }
    return this.ahead.size > 0;
  }

  /** Stops waiting: missing updates are reported as a gap. */
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
    // The one after `seenUpTo` is always missing, otherwise `seenUpTo` would include it.
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
