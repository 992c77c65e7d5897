import { useCallback, useRef, useState } from 'preact/hooks';
import { failureInWords, problem, type Notice } from './words.js';

/** What a button does, one at a time: `isBusy` while it goes on, a notice where it fails. */
export interface Action {
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<void>) => void;
}

/** @param tell hears of a failure, and of null when something is tried again */
export function useAction(tell: (notice: Notice | null) => void): Action {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = useCallback(
    (work: () => Promise<void>) => {
      if (isRunning.current) {
        return;
      }
      isRunning.current = true;
      setBusy(true);
      tell(null);
      work()
        .catch((error: unknown) => tell(problem(failureInWords(error))))
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
    [tell],
  );
  return { isBusy, run };
}
