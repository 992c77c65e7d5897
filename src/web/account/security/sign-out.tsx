import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { clientFor } from '../../server.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { done, failure, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { requiresSignIn } from '../../words/failure.js';
import { words } from '../../words/words.js';
import type { AccountActions } from '../use-account.js';

/** The acts that end this session. */
export interface Endings {
  readonly isBusy: boolean;
  /** Why the last one failed. */
  readonly notice: Notice | null;
  readonly signOut: () => void;
  readonly signOutEverywhere: () => void;
  readonly deleteAccount: () => void;
}

interface EndingsOptions extends AccountActions {
  /** Set before the request: the server then closes the connection for updates. */
  readonly isEnding: RefObject<boolean>;
}

export function useEndings({ session, endSession, isEnding }: EndingsOptions): Endings {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show);
  const client = clientFor(session.token);
  const end = (work: () => Promise<void>, message: () => string) => () =>
    run(async () => endSession(await ended(work, message, isEnding)));
  const { security } = words;
  return {
    isBusy,
    notice,
    signOut: end(
      () => client.logOut(),
      () => security.signedOut,
    ),
    signOutEverywhere: end(
      () => client.logOutEverywhere(),
      () => security.signedOutEverywhere,
    ),
    deleteAccount: end(
      () => client.removeAccount(),
      () => security.deleted,
    ),
  };
}

/**
 * @returns the notice after the session ended, also where it had ended before
 * @throws a failure that leaves the session as it is
 */
async function ended(
  work: () => Promise<void>,
  message: () => string,
  isEnding: RefObject<boolean>,
): Promise<Notice> {
  isEnding.current = true;
  try {
    await work();
    return done(message());
  } catch (error) {
    if (requiresSignIn(error)) {
      return failure(error);
    }
    isEnding.current = false;
    throw error;
  }
}

interface EndingProps {
  readonly endings: Endings;
}

export function SignOut({ endings: { isBusy, signOut } }: EndingProps) {
  return (
    <button type="button" disabled={isBusy} onClick={signOut}>
      <Icon name="exit" />
      <span>{words.signOut}</span>
    </button>
  );
}

/** Asks first: programs lose their sessions too. */
export function SignOutEverywhere({ endings }: EndingProps) {
  const dialog = useDialog();
  const { security, devices } = words;
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        {devices.everywhere}
      </button>
      <Dialog own={dialog} title={security.everywhereTitle}>
        <p>{security.everywhereHint}</p>
        <NoticeLine notice={endings.notice} />
        <div class="row end">
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            {security.stay}
          </button>
          <button
            type="button"
            class="primary"
            disabled={endings.isBusy}
            onClick={endings.signOutEverywhere}
          >
            {security.everywhere}
          </button>
        </div>
      </Dialog>
    </>
  );
}
