import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { browserName } from '../browser-name.js';
import { done, problem, useAction } from '../ui/notice.js';
import { KeyInput, readKey } from './key-forms.js';
import { NotRegistered, ownToken, whyNoPush } from './push-subscription.js';
import type { Account, AccountActions } from './use-account.js';

interface BrowserNotificationsProps extends AccountActions {
  readonly account: Account;
  /** Of this browser; null where it is not subscribed. */
  readonly own: string | null;
}

/** Offers to notify in this browser, unless it is one of the account's devices already. */
export function BrowserNotifications({ own, ...props }: BrowserNotificationsProps) {
  const { devices } = props.account;
  if (devices.some(({ token }) => token === own)) {
    return null;
  }
  const reason = whyNoPush();
  return reason === null ? <RegistrationForm {...props} /> : <p class="quiet">{reason}</p>;
}

function RegistrationForm({ account, ...actions }: Omit<BrowserNotificationsProps, 'own'>) {
  const { isBusy, run } = useAction(actions.notify, actions.endSession);
  const isEncrypted = account.profile.encryptionMode === 'e2ee';
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [name, secret] = [fields.get('name'), fields.get('push-key')];
    run(() =>
      registerBrowser(account, actions, {
        name: typeof name === 'string' ? name : '',
        secret: typeof secret === 'string' ? secret : null,
      }),
    );
  };
  return (
    <details>
      <summary>Notify in this browser</summary>
      <form onSubmit={submit}>
        <label for="browser-name">Name of this browser</label>
        <input id="browser-name" name="name" defaultValue={browserName()} maxLength={64} required />
        {isEncrypted && <KeyField />}
        <button type="submit" class="primary" disabled={isBusy}>
          Notify here
        </button>
      </form>
    </details>
  );
}

/** @param secret the device key as it was typed; null where the settings are not encrypted */
async function registerBrowser(
  { profile }: Account,
  { session, notify, reload }: AccountActions,
  { name, secret }: { readonly name: string; readonly secret: string | null },
): Promise<void> {
  try {
    // First: browsers ask only while they handle a click.
    if ((await Notification.requestPermission()) !== 'granted') {
      throw new NotRegistered('Without your permission this browser shows no notifications.');
    }
    const key = secret === null ? null : await readKey(secret);
    // Most visits register nothing, and need no encryption of settings.
    const { register } = await import('./push-registration.js');
    await register(session, profile, name, key);
    notify(done('This browser shows your notifications.'));
    reload();
  } catch (error) {
    if (!(error instanceof NotRegistered)) {
      throw error;
    }
    notify(problem(error.message));
  }
}

function KeyField() {
  return (
    <>
      <p>
        Your settings are end-to-end encrypted. The device key opens them here, once, and is not
        stored.
      </p>
      <KeyInput id="push-key" label="Your device key" />
    </>
  );
}

/** The push token of this browser, read again whenever the account is. */
export function useOwnToken(account: Account | null): string | null {
  const [own, setOwn] = useState<string | null>(null);
  useEffect(() => {
    if (whyNoPush() === null) {
      ownToken().then(setOwn, () => setOwn(null));
    }
  }, [account]);
  return own;
}
