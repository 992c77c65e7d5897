import { setTimeout } from 'node:timers';
import DataLoader from 'dataloader';

export interface Gathering {
  /**
   * How long the first request waits for others. Default: until the requests that have already
   * arrived are read.
   */
  readonly waitMs?: number;
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
  { waitMs = 0, maxKeys }: Gathering,
): (key: Key) => Promise<Value> {
  const loader = new DataLoader<Key, Value>(read, {
    cache: false,
    maxBatchSize: maxKeys,
    batchScheduleFn: (dispatch) => {
      if (waitMs === 0) {
        setImmediate(dispatch);
      } else {
        setTimeout(dispatch, waitMs);
      }
    },
  });
  return (key) => loader.load(key);
}
