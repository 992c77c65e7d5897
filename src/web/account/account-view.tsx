import type { AccountSession, SavedPushToken } from '../../client/api/api-client-answers.js';
import { readWebPushToken } from '../../client/notifications/web-push.js';
import { clientFor } from '../server.js';
import { formatDate } from '../ui/format-date.js';
import { done, Loading, useAction } from '../ui/notice.js';
import { BrowserNotifications, useOwnToken } from './browser-notifications.js';
import { Endings } from './endings.js';
import { Identities } from './identities.js';
import { unsubscribe } from './push-subscription.js';
import { useAccount, type Account, type AccountActions } from './use-account.js';

interface AccountViewProps extends Omit<AccountActions, 'reload'> {
  readonly addDevice: () => void;
}

/** What the server stores about the account for its owner, and what the owner can change. */
export function AccountView({ session, endSession, notify, addDevice }: AccountViewProps) {
  const { account, reload, isEnding } = useAccount(session, endSession, notify);
  const own = useOwnToken(account);
  const actions = { session, endSession, notify, reload };
  if (account === null) {
    return <Loading retry={reload} notify={notify} />;
  }
  return (
    <>
      {account.refusal !== null && <p class="problem">{account.refusal.message}</p>}
      <Facts account={account} />
      <Identities account={account} {...actions} />
      {account.refusal === null && <Devices account={account} own={own} {...actions} />}
      {account.refusal === null && (
        <Sessions sessions={account.sessions} addDevice={addDevice} {...actions} />
      )}
      <Endings isEnding={isEnding} {...actions} />
    </>
  );
}

function Facts({ account: { profile } }: { account: Account }) {
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">Your account</h2>
      <dl>
        <dt>Account ID</dt>
        <dd class="code">{profile.id}</dd>
        <dt>Created</dt>
        <dd>{formatDate(profile.createdAt)}</dd>
        <dt>Sign-in</dt>
        <dd>{profile.keyMode === 'keyed' ? 'With a device key' : 'Without a device key'}</dd>
        <dt>Content</dt>
        <dd>
          {profile.encryptionMode === 'e2ee'
            ? 'End-to-end encrypted: only your devices can read it'
            : 'Readable by the server'}
        </dd>
      </dl>
    </section>
  );
}

interface DevicesProps extends AccountActions {
  readonly account: Account;
  /** The push token of this browser; null where it is not subscribed. */
  readonly own: string | null;
}

/** The devices that get notifications. */
function Devices({ account, own, ...actions }: DevicesProps) {
  const { session, endSession, notify, reload } = actions;
  const { devices } = account;
  const { isBusy, run } = useAction(notify, endSession);
  const remove = async ({ token }: SavedPushToken) => {
    if (token === own) {
      await unsubscribe();
    }
    await clientFor(session.token).removePushToken(token);
    notify(done('That device gets no more notifications.'));
    reload();
  };
  return (
    <section aria-labelledby="devices">
      <h2 id="devices">Devices that get notifications</h2>
      {devices.length === 0 && (
        <p class="quiet">None. An app adds itself when you allow its notifications.</p>
      )}
      <ul>
        {devices.map((device) => (
          <DeviceRow
            key={device.id}
            device={device}
            isOwn={device.token === own}
            isBusy={isBusy}
            remove={() => run(() => remove(device))}
          />
        ))}
      </ul>
      <BrowserNotifications account={account} own={own} {...actions} />
    </section>
  );
}

interface DeviceRowProps {
  readonly device: SavedPushToken;
  readonly isOwn: boolean;
  readonly isBusy: boolean;
  readonly remove: () => void;
}

function DeviceRow({ device, isOwn, isBusy, remove }: DeviceRowProps) {
  const facts = [isOwn ? 'this browser' : device.platform, `since ${formatDate(device.createdAt)}`];
  return (
    <li>
      <div>
        {device.name !== null && <strong>{device.name}</strong>}
        <span class="code">{shortened(device.token)}</span>
        <span class="quiet">{facts.filter((part) => part !== null).join(', ')}</span>
      </div>
      <button type="button" disabled={isBusy} onClick={remove}>
        Remove
      </button>
    </li>
  );
}

const SHOWN_CHARACTERS = 8;

/** Enough to distinguish two devices, and too little to send to one. */
function shortened(token: string): string {
  const subscription = readWebPushToken(token);
  if (subscription !== null) {
    return new URL(subscription.endpoint).hostname;
  }
  const [, inner = token] = /\[(.*)\]$/.exec(token) ?? [];
  return inner.length > SHOWN_CHARACTERS ? `…${inner.slice(-SHOWN_CHARACTERS)}` : inner;
}

interface SessionsProps extends AccountActions {
  readonly sessions: readonly AccountSession[];
  readonly addDevice: () => void;
}

/** Where this account is signed in. */
function Sessions({ sessions, addDevice, session, endSession, notify, reload }: SessionsProps) {
  const { isBusy, run } = useAction(notify, endSession);
  const end = async ({ id }: AccountSession) => {
    await clientFor(session.token).endSession(id);
    notify(done('That session has ended.'));
    reload();
  };
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Signed in</h2>
      <ul>
        {sessions.map((one) => (
          <li key={one.id}>
            <div>
              <strong>{one.current ? 'This page' : clientOf(one)}</strong>
              <span class="quiet">
                {[one.address, `last used ${formatDate(one.lastSeenAt)}`]
                  .filter((part) => part !== null)
                  .join(', ')}
              </span>
            </div>
            {!one.current && (
              <button type="button" disabled={isBusy} onClick={() => run(() => end(one))}>
                End
              </button>
            )}
          </li>
        ))}
      </ul>
      <button type="button" class="link" onClick={addDevice}>
        Add a device…
      </button>
    </section>
  );
}

function clientOf({ client: { name, platform }, method }: AccountSession): string {
  return name ?? platform ?? (method === 'key_challenge' ? 'A device key' : method);
}
