import type { Timers } from './timers.js';

const STEP_MS = 20;

/** Waits until `isDone` returns true, or for `limitMs` at most. */
export async function pollUntil(
  timers: Timers,
  isDone: () => boolean | Promise<boolean>,
  limitMs = Infinity,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < limitMs && !(await isDone()); waitedMs += STEP_MS) {
    await timers.sleep(STEP_MS);
  }
}
