import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { clientFor } from './server.js';
import type { Session } from './tab-memory.js';
import { useAction, type Action } from './use-action.js';
import { done, failureInWords, isSignedOut, problem, type Notice } from './words.js';

interface EndingsProps {
  readonly session: Session;
  /** Says before it happens that the person ends the session: the server will cut it off. */
  readonly ending: RefObject<boolean>;
  readonly leave: (notice: Notice) => void;
  readonly tell: (notice: Notice | null) => void;
}

/** The ways out: of this tab, of every device, of the server. */
export function Endings({ session, ending, leave, tell }: EndingsProps) {
  const action = useAction(tell);
  const client = clientFor(session.token);
  const end = (work: () => Promise<void>, words: string) => () =>
    action.run(async () => leave(await ended(work, words, ending)));
  return (
    <section aria-labelledby="endings">
      <h2 id="endings">Leave</h2>
      <div class="row">
        <button
          type="button"
          disabled={action.isBusy}
          onClick={end(() => client.logOut(), 'You are signed out.')}
        >
          Sign out
        </button>
        <button
          type="button"
          disabled={action.isBusy}
          onClick={end(() => client.logOutEverywhere(), 'You are signed out on every device.')}
        >
          Sign out everywhere
        </button>
      </div>
      <DeleteAccount
        action={action}
        go={end(() => client.removeAccount(), 'Your account is gone.')}
      />
    </section>
  );
}

/**
 * @returns what to tell somebody who has left: also where the session was over before
 * @throws what keeps the person here
 */
async function ended(
  work: () => Promise<void>,
  words: string,
  ending: RefObject<boolean>,
): Promise<Notice> {
  ending.current = true;
  try {
    await work();
    return done(words);
  } catch (error) {
    if (isSignedOut(error)) {
      return problem(failureInWords(error));
    }
    ending.current = false;
    throw error;
  }
}

function DeleteAccount({ action, go }: { action: Action; go: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class="link danger" onClick={() => dialog.current?.showModal()}>
        Delete the account…
      </button>
      <dialog ref={dialog} aria-labelledby="delete">
        <h2 id="delete">Delete the account?</h2>
        <p>
          Everything it keeps here is removed at once, for every device. Nobody can bring it back.
        </p>
        <div class="row">
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="button" class="danger" disabled={action.isBusy} onClick={go}>
            Delete it
          </button>
        </div>
      </dialog>
    </>
  );
}
