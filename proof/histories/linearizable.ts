/** An operation on one object, which happened at a moment between its limits. */
export interface Step<State> {
  readonly from: number;
  /** Infinity for an operation of unknown outcome, which may never have happened. */
  readonly to: number;
  /** True if it changes no state: it may then happen as soon as it can, and prevents no other. */
  readonly isRead: boolean;
  /** Returns the state after it, or null if it cannot happen. */
  apply(state: State): State | null;
}

/**
 * The limit of a search. Where there is an order, one account of a history needs about a hundred;
 * where there is none, each operation of unknown outcome can double the number.
 */
export const MOST_STATES = 20_000;

export interface Contradiction<State> {
  /** The operations that could not happen where most others had. */
  readonly stuck: readonly Step<State>[];
  /** False if the search ended at its limit, so that there may be an order. */
  readonly isCertain: boolean;
}

/**
 * Looks for an order of the operations that respects their limits, as Wing and Gong do, and remembers
 * the sets of operations with the state after them from which there is none.
 *
 * @returns null where there is an order
 */
export function findContradiction<State>(
  initial: State,
  steps: readonly Step<State>[],
): Contradiction<State> | null {
  const sorted = steps.toSorted((one, other) => one.from - other.from);
  const optional = sorted.reduce((set, { to }, at) => (to === Infinity ? set | bit(at) : set), 0n);
  /** By the other operations and the state: those of unknown outcome that had happened. */
  const seen = new Map<string, bigint[]>();
  let states = 0;
  let most = -1;
  let stuck: readonly Step<State>[] = [];

  /** Returns the operations that may be next: no other one ended before they began. */
  function candidates(done: bigint, low: number): number[] {
    const found: number[] = [];
    let earliestEnd = Infinity;
    for (let index = low; index < sorted.length; index += 1) {
      const { from, to } = sorted[index]!;
      if (from > earliestEnd) {
        break;
      }
      if (!has(done, index)) {
        found.push(index);
        earliestEnd = Math.min(earliestEnd, to);
      }
    }
    return found.filter((index) => sorted[index]!.from <= earliestEnd);
  }

  function canEnd(state: State, before: bigint, from: number, count: number): boolean {
    states += 1;
    if (states > MOST_STATES) {
      return false;
    }
    let done = before;
    let low = from;
    let depth = count;
    let next = candidates(done, low);
    // One that changes nothing may happen at once: it prevents no other.
    for (let isMore = true; isMore;) {
      const idle = next.filter((index) => sorted[index]!.apply(state) === state);
      isMore = idle.length > 0;
      idle.forEach((index) => (done |= bit(index)));
      depth += idle.length;
      while (has(done, low)) {
        low += 1;
      }
      next = isMore ? candidates(done, low) : next;
    }
    if (next.every((index) => sorted[index]!.to === Infinity)) {
      return true;
    }
    if (depth > most) {
      most = depth;
      stuck = next.map((index) => sorted[index]!);
    }
    const key = `${(done & ~optional).toString(36)} ${JSON.stringify(state)}`;
    const tried = seen.get(key) ?? [];
    // More of them were left at that time, and there was no order.
    if (tried.some((set) => (set & ~done) === 0n)) {
      return false;
    }
    seen.set(key, [...tried, done & optional]);
    // Operations of unknown outcome come last: most never happened, and the search returns to those that did.
    return next.toSorted(byEnd).some((index) => {
      const { to, apply } = sorted[index]!;
      const after = apply(state);
      const isIdle = to === Infinity && JSON.stringify(after) === JSON.stringify(state);
      return after !== null && !isIdle && canEnd(after, done | bit(index), low, depth + 1);
    });
  }

  function byEnd(one: number, other: number): number {
    const [{ to: end }, { to: otherEnd }] = [sorted[one]!, sorted[other]!];
    return end === otherEnd ? 0 : end - otherEnd;
  }

  return canEnd(initial, 0n, 0, 0) ? null : { stuck, isCertain: states <= MOST_STATES };
}

function bit(index: number): bigint {
  return 1n << BigInt(index);
}

function has(done: bigint, index: number): boolean {
  return (done & bit(index)) !== 0n;
}
