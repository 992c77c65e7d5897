import DataLoader from 'dataloader';
import type { Runtime } from '../../common/runtime/runtime.js';

interface Gathering {
  /** Least milliseconds between two statements. Default 0. */
  readonly everyMs?: number;
  readonly maxKeys: number;
}

/**
 * Reads the keys of simultaneous requests by one statement. A single request does not wait, and
 * nothing is cached.
 *
 * @param read returns one value for each key, in their order; when it rejects, so do all requests
 * of the batch
 */
export function batched<Key, Value>(
  { clock, timers }: Pick<Runtime, 'clock' | 'timers'>,
  read: (keys: readonly Key[]) => Promise<readonly Value[]>,
  { everyMs = 0, maxKeys }: Gathering,
): (key: Key) => Promise<Value> {
  let notBeforeMs = 0;
  const loader = new DataLoader<Key, Value>(read, {
    cache: false,
    maxBatchSize: maxKeys,
    batchScheduleFn: (dispatch) => {
      const now = clock.elapsed();
      const waitMs = Math.max(notBeforeMs - now, 0);
      notBeforeMs = now + waitMs + everyMs;
      if (waitMs === 0) {
        timers.inNextTurn(dispatch);
      } else {
        timers.after(waitMs, dispatch);
      }
    },
  });
  return (key) => loader.load(key);
}
