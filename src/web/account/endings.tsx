import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { requiresSignIn } from '../../client/messages.js';
import { clientFor } from '../server.js';
import { done, failure, useAction, type Action, type Notice } from '../ui/notice.js';
import type { AccountActions } from './use-account.js';

interface EndingsProps extends AccountActions {
  /** Set before the request: the server then closes the connection for updates. */
  readonly isEnding: RefObject<boolean>;
}

/** Ends this session, every session, or the account. */
export function Endings({ session, isEnding, endSession, notify }: EndingsProps) {
  const action = useAction(notify);
  const client = clientFor(session.token);
  const end = (work: () => Promise<void>, message: string) => () =>
    action.run(async () => endSession(await ended(work, message, isEnding)));
  return (
    <section aria-labelledby="endings">
      <h2 id="endings">Sign out</h2>
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
        remove={end(() => client.removeAccount(), 'Your account was deleted.')}
      />
    </section>
  );
}

/**
 * @returns the notice after the session ended, also where it had ended before
 * @throws a failure that leaves the session as it is
 */
async function ended(
  work: () => Promise<void>,
  message: string,
  isEnding: RefObject<boolean>,
): Promise<Notice> {
  isEnding.current = true;
  try {
    await work();
    return done(message);
  } catch (error) {
    if (requiresSignIn(error)) {
      return failure(error);
    }
    isEnding.current = false;
    throw error;
  }
}

function DeleteAccount({ action, remove }: { action: Action; remove: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class="link danger" onClick={() => dialog.current?.showModal()}>
        Delete the account…
      </button>
      <dialog ref={dialog} aria-labelledby="delete">
        <h2 id="delete">Delete the account?</h2>
        <p>Everything this server stores for it is deleted at once. This cannot be undone.</p>
        <div class="row">
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="button" class="danger" disabled={action.isBusy} onClick={remove}>
            Delete it
          </button>
        </div>
      </dialog>
    </>
  );
}
