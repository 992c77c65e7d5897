import type { RefObject } from 'preact';
import type { GatehouseProblem } from '../../../../packages/client/api/problem.js';
import { clientFor } from '../../server.js';
import { DialogButton } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import {
  done,
  failure,
  NoticeLine,
  problem,
  type Notice,
  useNotedAction,
} from '../../ui/notice.js';
import { requiresSignIn } from '../../i18n/failure.js';
import { t } from '../../i18n/messages.js';
import { forgetPin } from '../account-pins.js';
import { unavailableReason, unsubscribe } from '../notifications/push-subscription.js';
import { removeSession } from '../tab-state.js';
import type { AccountActions, Endings } from '../use-account.js';
import { endInOtherTabs } from './ended-elsewhere.js';
import { FormButtons } from '../../ui/form-buttons.js';

interface EndingsOptions extends AccountActions {
  /** Set before the request, because the server then closes the updates connection. */
  readonly isEnding: RefObject<boolean>;
}

export function useEndings({ session, endSession, isEnding }: EndingsOptions): Endings {
  const { notice, isBusy, run } = useNotedAction();
  const client = clientFor(session.token);
  const end = (work: () => Promise<void>, message: () => string) => () =>
    run(async () => {
      const refusal = await ended(work, isEnding);
      endSession(refusal === null ? done(message) : failure(refusal), refusal === null);
    });
  return {
    isBusy,
    notice,
    signOut: () =>
      run(async () => {
        isEnding.current = true;
        // Before the server is asked: it may not answer, or the tab may be closed meanwhile.
        removeSession(session);
        endInOtherTabs(session);
        const error = await client.logOut().then(
          () => null,
          (reason: unknown) => reason,
        );
        endSession(await signedOutNotice(error), true);
      }),
    signOutEverywhere: end(
      () => client.logOutEverywhere(),
      () => t.security.signedOutEverywhere,
    ),
    deleteAccount: end(
      async () => {
        await client.removeAccount();
        forgetPin(session.accountId);
      },
      () => t.security.deleted,
    ),
  };
}

async function signedOutNotice(error: unknown): Promise<Notice> {
  if (error === null || requiresSignIn(error)) {
    return error === null ? done(() => t.security.signedOut) : failure(error);
  }
  // The server has not removed the push token.
  if (unavailableReason() === null) {
    await unsubscribe().catch(() => undefined);
  }
  return problem(() => t.security.signedOutHere);
}

/** @returns null, or why only a new sign-in helps: the session had ended before, or is too old */
async function ended(
  work: () => Promise<void>,
  isEnding: RefObject<boolean>,
): Promise<GatehouseProblem | null> {
  isEnding.current = true;
  try {
    await work();
    return null;
  } catch (error) {
    if (requiresSignIn(error)) {
      return error;
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
      <span>{t.signOut}</span>
    </button>
  );
}

/** Asks for confirmation, because programs lose their sessions as well. */
export function SignOutEverywhere({ endings }: EndingProps) {
  const { security, devices } = t;
  return (
    <DialogButton open={devices.everywhere} title={security.everywhereTitle}>
      {(close) => (
        <>
          <p>{security.everywhereHint}</p>
          <NoticeLine notice={endings.notice} />
          <FormButtons
            cancel={security.stay}
            close={close}
            submit={security.everywhere}
            confirm={endings.signOutEverywhere}
            isDisabled={endings.isBusy}
          />
        </>
      )}
    </DialogButton>
  );
}
