import { setTimeout as sleep } from 'node:timers/promises';

/** Ends before the timeout of Jest, with a message about the missing event; mutants get less time. */
export const WAIT_LIMIT_MS = Number(process.env['GATEHOUSE_TEST_WAIT_MS'] ?? 300_000);
const STEP_MS = 20;
/** Each question takes work from what it waits for, so longer waits ask less often. */
const SHARE_OF_WAIT = 0.1;
const MAX_STEP_MS = 250;

/**
 * Asks again until the answer is neither `undefined` nor `false`.
 * @param what said when it does not come within {@link WAIT_LIMIT_MS}
 */
export async function waitFor<Value>(
  what: string | (() => string),
  probe: () => Promise<Value> | Value,
  stepMs = STEP_MS,
): Promise<Exclude<Value, undefined | false>> {
  const startedAt = Date.now();
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) {
      return value as Exclude<Value, undefined | false>;
    }
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > WAIT_LIMIT_MS) {
      throw new Error(`It did not happen: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(Math.max(stepMs, Math.min(waitedMs * SHARE_OF_WAIT, MAX_STEP_MS)));
  }
}
