import { setTimeout } from 'node:timers';
import DataLoader from 'dataloader';

export interface Gathering {
  /**
   * At most one statement in that time: what comes before it is over waits for others. Default 0: a
   * request waits until those that have already arrived are read, and no longer.
   */
  readonly everyMs?: number;
  /** Keys of one statement. */
  readonly maxKeys: number;
}

/**
 * Answers requests of about the same time by one statement: a rush of logins or of connections
 * costs a fraction of the statements, and a single request does not wait. Nothing is cached:
 * each answer is read after its question.
 *
 * @param read gives one value for each key, in their order; when it rejects, so do all requests of the batch
 */
export function batched<Key, Value>(
  read: (keys: readonly Key[]) => Promise<readonly Value[]>,
  { everyMs = 0, maxKeys }: Gathering,
): (key: Key) => Promise<Value> {
  let notBeforeMs = 0;
  const loader = new DataLoader<Key, Value>(read, {
    cache: false,
    maxBatchSize: maxKeys,
    batchScheduleFn: (dispatch) => {
      const now = performance.now();
      const waitMs = Math.max(notBeforeMs - now, 0);
      notBeforeMs = now + waitMs + everyMs;
      if (waitMs === 0) {
        setImmediate(dispatch);
      } else {
        setTimeout(dispatch, waitMs);
      }
    },
  });
  return (key) => loader.load(key);
}
