import { useCallback, useRef, useState } from 'preact/hooks';
import { failureInWords, isSignedOut, problem, type Notice } from './words.js';

/** What a button does, one at a time: `isBusy` while it goes on, a notice where it fails. */
export interface Action {
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<void>) => void;
}

/**
 * @param tell receives a failure, and null when something is tried again
 * @param leave receives a failure after which the person has to sign in again; default: `tell`
 */
export function useAction(
  tell: (notice: Notice | null) => void,
  leave: (notice: Notice) => void = tell,
): Action {
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
        .catch((error: unknown) =>
          (isSignedOut(error) ? leave : tell)(problem(failureInWords(error))),
        )
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
    [tell, leave],
  );
  return { isBusy, run };
}
