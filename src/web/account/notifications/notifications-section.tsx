import { Icon } from '../../ui/icon.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Loading } from '../../ui/notice.js';
import { words } from '../../words/words.js';
import { KeyForm } from '../key-forms.js';
import type { SectionProps } from '../use-account.js';
import type { OpenedSettingsProps } from './opened-settings.js';
import { useSettings, type SettingsAccess } from './use-settings.js';

/** Most visits open no settings. */
const OpenedSettings = lazyPart<OpenedSettingsProps>(async () => {
  const { OpenedSettings: loaded } = await import('./opened-settings.js');
  await (await import('../../words/notification-words.js')).loadNotificationWords();
  return loaded;
});

/** What the account is notified of, where, and how much of it is shown. */
export function NotificationsSection({ account, own, ...actions }: SectionProps) {
  const settings = useSettings(account, actions);
  const { fields, isLocked, reload } = settings;
  if (account.refusal !== null) {
    return null;
  }
  if (isLocked) {
    return <Locked open={settings.open} endSession={actions.endSession} />;
  }
  if (fields === null) {
    return <Loading retry={reload} notify={actions.notify} />;
  }
  return <OpenedSettings {...{ account, own, fields, settings, ...actions }} />;
}

type LockedProps = Pick<SettingsAccess, 'open'> & Pick<SectionProps, 'endSession'>;

function Locked({ open, endSession }: LockedProps) {
  const { lock } = words;
  return (
    <section aria-labelledby="locked">
      <div class="card-head">
        <div>
          <h2 id="locked">{lock.title}</h2>
          <p class="quiet">{lock.lead}</p>
        </div>
        <span class="tile accent">
          <Icon name="lock" />
        </span>
      </div>
      <KeyForm use={open} endSession={endSession} label={lock.submit} />
    </section>
  );
}
