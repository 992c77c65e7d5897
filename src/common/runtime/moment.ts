import type { Clock } from './clock.js';

/** A reading of both clocks. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Corrections of the wall clock below this are not a step back. */
const SLEW_MS = 1000;

export function momentOf(clock: Clock): Moment {
  return { wallMs: clock.now(), monotonicMs: clock.elapsed() };
}

/**
 * Returns the time since a moment by the clock that has moved further: the monotonic one stands still
 * while a machine sleeps, and the wall clock may be set. Infinite where the wall clock stepped back.
 */
export function millisecondsSince(moment: Moment, clock: Clock): number {
  const wall = clock.now() - moment.wallMs;
  const monotonic = clock.elapsed() - moment.monotonicMs;
  return wall < monotonic - SLEW_MS ? Infinity : Math.max(wall, monotonic);
}
