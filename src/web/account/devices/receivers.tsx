import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { SavedPushToken } from '../../../client/api/api-client-answers.js';
import { readWebPushToken } from '../../../client/notifications/web-push.js';
import { clientFor } from '../../server.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { done, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { formatRelative } from '../../words/format.js';
import { words } from '../../words/words.js';
import { unsubscribe } from '../notifications/push-subscription.js';
import type { SectionProps } from '../use-account.js';
import { TestReceiver } from './test-receiver.js';

/** The devices that get notifications. */
export function Receivers({ account, own, session, endSession, notify, reload }: SectionProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  const { devices } = words;
  const client = clientFor(session.token);
  const act = (work: () => Promise<void>, text: string) =>
    run(async () => {
      await work();
      notify(done(text));
      reload();
    });
  const remove = async ({ token }: SavedPushToken) => {
    await (token === own && unsubscribe());
    await client.removePushToken(token);
  };
  const rename = ({ token }: SavedPushToken, name: string) =>
    client.savePushToken(token, undefined, { name });
  return (
    <section aria-labelledby="receivers">
      <div class="lead">
        <h2 id="receivers">{devices.receivers}</h2>
        <p class="quiet">{devices.receiversLead}</p>
      </div>
      {account.devices.length === 0 && <NoReceivers />}
      <ul>
        {account.devices.map((device) => (
          <Receiver
            key={device.id}
            device={device}
            isOwn={device.token === own}
            isBusy={isBusy}
            rename={(name) => act(() => rename(device, name), devices.renamed)}
            remove={() => act(() => remove(device), devices.removed)}
          />
        ))}
      </ul>
      <NoticeLine notice={notice} />
    </section>
  );
}

function NoReceivers() {
  const { devices, nav } = words;
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
  const { devices } = words;
  const kind = kindOf(device);
  const name = device.name ?? devices.unnamed[kind];
  const facts = [platformName(device), devices.added(formatRelative(device.createdAt))];
  return (
    <li>
      <span class={isOwn ? 'tile accent' : 'tile'}>
        <Icon name={ICONS[kind]} />
      </span>
      <div>
        <span class="titled">
          <strong>{name}</strong>
          {isOwn && <span class="badge accent">{devices.thisBrowser}</span>}
        </span>
        <span class="quiet">{facts.filter((part) => part !== null).join(' · ')}</span>
      </div>
      <div class="row">
        <TestReceiver device={device} name={name} isOwn={isOwn} />
        <Rename device={device} label={`${devices.rename}: ${name}`} rename={rename} />
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          aria-label={`${words.remove}: ${name}`}
          onClick={remove}
        >
          {words.remove}
        </button>
      </div>
    </li>
  );
}

interface RenameProps extends Pick<ReceiverProps, 'device' | 'rename'> {
  /** Of the button, for screen readers. */
  readonly label: string;
}

function Rename({ device, label, rename }: RenameProps) {
  const dialog = useDialog();
  return (
    <>
      <button type="button" aria-label={label} onClick={() => dialog.current?.showModal()}>
        {words.devices.rename}
      </button>
      <Dialog own={dialog} title={words.devices.renameTitle}>
        <RenameForm
          id={device.id}
          name={device.name ?? ''}
          rename={rename}
          close={() => dialog.current?.close()}
        />
      </Dialog>
    </>
  );
}

interface RenameFormProps {
  readonly id: string;
  readonly name: string;
  readonly rename: (name: string) => void;
  readonly close: () => void;
}

function RenameForm({ id, name, rename, close }: RenameFormProps) {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('name');
    close();
    rename(typeof typed === 'string' ? typed.trim() : '');
  };
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for={`name-${id}`}>{words.devices.name}</label>
        <input
          id={`name-${id}`}
          name="name"
          defaultValue={name}
          maxLength={64}
          pattern=".*\S.*"
          autocomplete="off"
          required
        />
      </div>
      <div class="row end">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button type="submit" class="primary">
          {words.save}
        </button>
      </div>
    </form>
  );
}

type Kind = keyof (typeof words)['devices']['unnamed'];

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

/** Its platform, or the push service that reaches it. */
function platformName({ token, platform }: SavedPushToken): string | null {
  const subscription = readWebPushToken(token);
  if (subscription !== null) {
    return new URL(subscription.endpoint).hostname;
  }
  const known: Readonly<Record<string, string>> = { ios: 'iOS', android: 'Android' };
  return known[platform ?? ''] ?? platform;
}
