import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 20;

/** Waits until `isDone` returns true, or for `limitMs` at most. */
export async function pollUntil(
  isDone: () => boolean | Promise<boolean>,
  limitMs = Infinity,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < limitMs && !(await isDone()); waitedMs += STEP_MS) {
    await sleep(STEP_MS);
  }
}
