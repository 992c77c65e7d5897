import { useCallback, useRef, useState } from 'preact/hooks';
import { failureMessage, requiresSignIn } from '../words/failure.js';
import { words } from '../words/words.js';
import { Icon } from './icon.js';

/** What succeeded, or what failed: above the page, or beside an act. */
export interface Notice {
  readonly kind: 'done' | 'problem';
  readonly text: string;
}

/** Shows a notice in place of the last one; null clears it. */
export type Notify = (notice: Notice | null) => void;

export const done = (text: string): Notice => ({ kind: 'done', text });
export const problem = (text: string): Notice => ({ kind: 'problem', text });
export const failure = (error: unknown): Notice => problem(failureMessage(error));

export function NoticeLine({ notice }: { readonly notice: Notice | null }) {
  return (
    <div class="notice" role={notice?.kind === 'problem' ? 'alert' : 'status'}>
      {notice !== null && (
        <p class={notice.kind}>
          <Icon name={notice.kind === 'done' ? 'check' : 'alert'} />
          <span>{notice.text}</span>
        </p>
      )}
    </div>
  );
}

/** Shown until the server has answered, and after it failed to. */
export function Loading({ retry, notify }: { retry: () => unknown; notify?: Notify }) {
  const onClick = () => {
    notify?.(null);
    retry();
  };
  return (
    <>
      <p class="waiting">{words.moment}</p>
      <button type="button" class="link late" onClick={onClick}>
        {words.tryAgain}
      </button>
    </>
  );
}

/** What a button does, one at a time: `isBusy` while it runs, a notice where it fails. */
export interface Action {
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<void>) => void;
}

/**
 * @param notify receives a failure, and null when an action starts
 * @param endSession receives a failure after which only signing in again helps; default: `notify`
 */
export function useAction(notify: Notify, endSession: (notice: Notice) => void = notify): Action {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = useCallback(
    (work: () => Promise<void>) => {
      if (isRunning.current) {
        return;
      }
      isRunning.current = true;
      setBusy(true);
      notify(null);
      work()
        .catch((error: unknown) => (requiresSignIn(error) ? endSession : notify)(failure(error)))
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
    [notify, endSession],
  );
  return { isBusy, run };
}
