import { useEffect, useState } from 'preact/hooks';
import { browserName, shownName, storedName } from '../../browser-name.js';
import { Button } from '../../ui/button.js';
import { submitting, TextField, textOf } from '../../ui/fields.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { ShowTest } from '../devices/test-receiver.js';
import type { SectionProps } from '../use-account.js';
import { Listing } from '../../ui/listing.js';
import type { PartProps } from './push-preferences.js';
import { Switch } from './switch.js';
import { setPreviewsHere, showsPreviewsHere } from '../../worker/device-previews.js';
import { ownToken, subscribedKey, unavailableReason } from './push-subscription.js';
import type {
  SettingsAccess,
  SettingsFields,
} from '../../../../packages/client/settings/account-settings.js';
import {
  formatWebPushToken,
  readWebPushKey,
  WEB_PUSH_SETTING,
} from '../../../../packages/client/notifications/web-push.js';
import { confirmOwnReceiver } from '../../../../packages/client/settings/receivers.js';
import { ensureWebPushKey } from '../../../../packages/client/notifications/web-push-key.js';
import { readBase64 } from '../../../../core/protocol/base64.js';
import { clientFor, loading, serverUrl } from '../../server.js';
import type { Session } from '../tab-state.js';
import { Section } from '../../ui/section.js';
import { Badge } from '../../ui/badge.js';

type BrowserProps = PartProps & Pick<SectionProps, 'account' | 'own'>;

export function BrowserNotifications({ account, own, ...props }: BrowserProps) {
  const { browser } = notificationMessages;
  const isSaved = account.devices.some(({ token }) => token === own);
  const isOn = useKeyMatch(own, props.settings.fields) && isSaved;
  const reason = unavailableReason();
  return (
    <Section id="this-browser" title={browser.title} lead={browser.lead}>
      {isOn && <Registered isSent={props.preferences.push.enabled} />}
      {!isOn && reason === null && <RegistrationForm {...props} />}
      {!isOn && reason !== null && (
        <>
          <Badge tone="caution" icon="alert" text={browser.isOff} />
          <p>{browser[reason]}</p>
        </>
      )}
    </Section>
  );
}

/**
 * Returns false where the account has another Web Push key than the one that this browser subscribed with: push services
 * then refuse what senders send, for example after the settings were lost.
 */
function useKeyMatch(own: string | null, fields: SettingsFields | null): boolean {
  const [subscribed, show] = useState<string | null>(null);
  useEffect(() => void subscribedKey().then(show, () => show(null)), [own]);
  const key = readWebPushKey(fields?.[WEB_PUSH_SETTING]);
  return subscribed === null || subscribed === key?.publicKey;
}

/** @param isSent false where the account sends no push notifications */
function Registered({ isSent }: { readonly isSent: boolean }) {
  const { browser } = notificationMessages;
  return (
    <>
      {isSent ? (
        <Badge tone="good" icon="check" text={browser.isOn} />
      ) : (
        <Badge tone="caution" icon="alert" text={browser.nothingSent} />
      )}
      <PreviewsHere />
      <ShowTest />
      <p class="hint">{browser.wholeWay}</p>
      <Listing text="gatehouse notify doctor" label={browser.wholeWay} />
      <p class="hint">
        {browser.turnOff} <a href="#devices">{t.nav.devices}</a>.
      </p>
    </>
  );
}

/** The switch of this device alone, which the service worker reads. */
function PreviewsHere() {
  const { notice, isBusy, run } = useNotedAction();
  const [isOn, set] = useState(true);
  useEffect(() => {
    showsPreviewsHere().then(set, () => undefined);
  }, []);
  const change = (next: boolean) => run(() => setPreviewsHere(next).then(() => set(next)));
  return (
    <>
      <Switch
        label={notificationMessages.browser.previews}
        hint={notificationMessages.browser.previewsHint}
        isOn={isOn}
        isBusy={isBusy}
        set={change}
      />
      <NoticeLine notice={notice} />
    </>
  );
}

function RegistrationForm({ settings, session, notify, endSession, reload }: PartProps) {
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { browser } = notificationMessages;
  const submit = submitting((values) =>
    run(async () => {
      await register(session, storedName(textOf(values, 'name')), settings.access);
      notify(done(() => notificationMessages.browser.on));
      settings.reload();
      reload();
    }),
  );
  return (
    <form onSubmit={submit}>
      <TextField
        id="browser-name"
        name="name"
        label={browser.name}
        defaultValue={shownName(browserName())}
        maxLength={64}
        pattern=".*\S.*"
        required
      />
      <NoticeLine notice={notice} />
      <Button type="submit" class="primary" disabled={isBusy} icon="bell" text={browser.turnOn} />
    </form>
  );
}

class NotRegistered extends Error {
  override readonly name = 'NotRegistered';

  constructor(
    readonly reason: 'denied' | 'address' | 'service',
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** @throws NotRegistered */
async function register(
  { token: bearer }: Session,
  name: string,
  access: SettingsAccess,
): Promise<void> {
  // Requested first: browsers ask only while they handle a click.
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new NotRegistered('denied');
  }
  const client = clientFor(bearer);
  const before = await ownToken().catch(() => null);
  const subscription = await subscribe(await ensureWebPushKey(client, access));
  const token = formatWebPushToken(subscription.toJSON());
  if (token === null) {
    await subscription.unsubscribe();
    throw new NotRegistered('address');
  }
  await client.savePushToken(token, serverUrl(), { name, platform: 'web' });
  if (before !== null && before !== token) {
    // This browser has one subscription: the former one has ended.
    await client.removePushToken(before).catch(() => undefined);
  }
  await confirmOwnReceiver(client, access, token);
}

async function subscribe(publicKey: string): Promise<PushSubscription> {
  const registration = await loading(navigator.serviceWorker.register(workerAddress()));
  await activated(registration);
  const { pushManager } = registration;
  const options = { userVisibleOnly: true, applicationServerKey: readBase64(publicKey, 65, 65) };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    // It may use an earlier key of the account; a browser has one subscription per page.
    const old = await pushManager.getSubscription();
    if (old === null) {
      throw new NotRegistered('service', { cause: error });
    }
    await old.unsubscribe();
    return pushManager.subscribe(options);
  }
}

/** Replaces `ready`, which never resolves for a page at `/app`, because its scope is `/app/`. */
function activated({ active, waiting, installing }: ServiceWorkerRegistration): Promise<void> {
  const worker = active ?? waiting ?? installing;
  return new Promise((resolve, reject) => {
    const check = () => {
      if (worker?.state === 'activated') {
        resolve();
      } else if (worker?.state === 'redundant') {
        reject(new Error('The service worker could not be installed, or was removed.'));
      }
    };
    worker?.addEventListener('statechange', check);
    check();
  });
}

interface TrustedScriptPolicy {
  createScriptURL(input: string): string;
}

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (input: string) => string },
  ): TrustedScriptPolicy;
}

let policy: TrustedScriptPolicy | undefined;

/** Returns the only script address that the page's Trusted Types policy allows. */
function workerAddress(): string {
  const address = new URL('worker.js', document.baseURI).href;
  const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypesFactory };
  policy ??= trustedTypes?.createPolicy('gatehouse-worker', { createScriptURL: () => address });
  return policy?.createScriptURL('') ?? address;
}
