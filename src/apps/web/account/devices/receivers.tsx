import type { SavedPushToken } from '../../../../packages/client/api/api-client-answers.js';
import { readWebPushToken } from '../../../../packages/client/notifications/web-push.js';
import { shownName } from '../../browser-name.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { Icon, type IconName, Tile } from '../../ui/icon.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { formatPast, joinFacts } from '../../i18n/format.js';
import { t } from '../../i18n/messages.js';
import { unsubscribe } from '../notifications/push-subscription.js';
import type { SectionProps } from '../use-account.js';
import { Rename } from './rename.js';
import { TestReceiver } from './test-receiver.js';
import { Section } from '../../ui/section.js';

export function Receivers({ account, own, session, endSession, notify, reload }: SectionProps) {
  const { notice, isBusy, run } = useNotedAction(endSession);
  const client = clientFor(session.token);
  const act = (work: () => Promise<void>, outcome: 'renamed' | 'removed') =>
    run(async () => {
      await work();
      notify(done(() => t.devices[outcome]));
      reload();
    });
  const remove = async ({ token }: SavedPushToken) => {
    if (token === own) {
      await unsubscribe();
    }
    await client.removePushToken(token);
    const { forgetRemoved } = await import('./forget-removed.js');
    await forgetRemoved(client, account.profile.id);
  };
  const rename = ({ token }: SavedPushToken, name: string) =>
    client.savePushToken(token, undefined, { name });
  return (
    <Section id="receivers" title={t.devices.receivers} lead={t.devices.receiversLead}>
      {account.devices.length === 0 && <NoReceivers />}
      <ul>
        {newestFirst(account.devices).map((device) => (
          <Receiver
            key={device.id}
            device={device}
            isOwn={device.token === own}
            isBusy={isBusy}
            rename={(name) => act(() => rename(device, name), 'renamed')}
            remove={() => act(() => remove(device), 'removed')}
          />
        ))}
      </ul>
      <NoticeLine notice={notice} />
    </Section>
  );
}

/** The server lists first what was saved last: a row would move under the pointer when its app starts. */
function newestFirst(devices: readonly SavedPushToken[]): readonly SavedPushToken[] {
  return devices.toSorted((one, other) => other.createdAt - one.createdAt);
}

function NoReceivers() {
  const { devices, nav } = t;
  return (
    <div class="empty">
      <strong>{devices.noReceivers}</strong>
      <p>{devices.noReceiversHint}</p>
      <a class="button" href="#notifications">
        <Icon name="bell" />
        {nav.notifications}
      </a>
    </div>
  );
}

interface ReceiverProps {
  readonly device: SavedPushToken;
  readonly isOwn: boolean;
  readonly isBusy: boolean;
  readonly rename: (name: string) => void;
  readonly remove: () => void;
}

function Receiver({ device, isOwn, isBusy, rename, remove }: ReceiverProps) {
  const { devices } = t;
  const name = receiverName(device);
  return (
    <li>
      <Tile name={ICONS[kindOf(device)]} isAccented={isOwn} />
      <div>
        <span class="titled">
          <strong>{name}</strong>
          {isOwn && <span class="badge accent">{devices.thisBrowser}</span>}
        </span>
        <span class="quiet">{receiverFacts(device)}</span>
      </div>
      <div class="row">
        <TestReceiver device={device} name={name} isOwn={isOwn} />
        <Rename
          id={device.id}
          name={device.name ?? ''}
          title={devices.renameTitle}
          label={`${devices.rename}: ${name}`}
          isBusy={isBusy}
          rename={rename}
        />
        <Button
          class="danger"
          disabled={isBusy}
          aria-label={`${t.remove}: ${name}`}
          onClick={remove}
          text={t.remove}
        />
      </div>
    </li>
  );
}

type Kind = keyof (typeof t)['devices']['unnamed'];

const ICONS: Readonly<Record<Kind, IconName>> = {
  web: 'browser',
  ios: 'phone',
  android: 'phone',
  other: 'phone',
};

function kindOf({ token, platform }: SavedPushToken): Kind {
  if (readWebPushToken(token) !== null) {
    return 'web';
  }
  return platform === 'ios' || platform === 'android' ? platform : 'other';
}

export function receiverName(device: SavedPushToken): string {
  return device.name === null ? t.devices.unnamed[kindOf(device)] : shownName(device.name);
}

/** Returns where a device is reached, and since when. */
export function receiverFacts(device: SavedPushToken): string {
  return joinFacts(platformName(device), t.devices.added(formatPast(device.createdAt)));
}

/** Returns the platform of a device, or the push service that reaches it. */
function platformName({ token, platform }: SavedPushToken): string | null {
  const subscription = readWebPushToken(token);
  if (subscription !== null) {
    return new URL(subscription.endpoint).hostname;
  }
  const known: Readonly<Record<string, string>> = { ios: 'iOS', android: 'Android' };
  return known[platform ?? ''] ?? platform;
}
