import { lazyPart } from '../../ui/lazy-part.js';
import { Loading } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import { KeyForm } from '../key-forms.js';
import { keptKeyOf } from '../tab-state.js';
import type { SectionProps } from '../use-account.js';
import { useSettings, type Settings } from './use-settings.js';
import { Section } from '../../ui/section.js';

/** Loaded on demand, because most visits do not open the settings. */
const OpenedSettings = lazyPart(() => import('./opened-settings.js'), 'OpenedSettings');

/** Loaded on demand, because few visits see it. */
const RefusedSettings = lazyPart(() => import('./refused-settings.js'), 'RefusedSettings');

export function NotificationsSection({ account, own, ...actions }: SectionProps) {
  const settings = useSettings(account, actions);
  const { fields, isLocked, refusal, reload } = settings;
  if (account.refusal !== null) {
    return null;
  }
  if (refusal !== null) {
    const { endSession } = actions;
    return <RefusedSettings key={refusal} {...{ refusal, settings, endSession }} />;
  }
  if (isLocked) {
    return <Locked open={settings.open} {...actions} />;
  }
  if (fields === null) {
    return <Loading retry={reload} notify={actions.notify} />;
  }
  return <OpenedSettings {...{ account, own, fields, settings, ...actions }} />;
}

type LockedProps = Pick<Settings, 'open'> & Pick<SectionProps, 'session' | 'endSession'>;

function Locked({ open, session, endSession }: LockedProps) {
  const { lock } = t;
  const isKept = keptKeyOf(session.accountId) !== null;
  return (
    <Section id="locked" title={lock.title} lead={lock.lead}>
      <KeyForm
        use={open}
        keptFor={session.accountId}
        endSession={endSession}
        label={lock.submit}
        isScanned
      >
        {!isKept && <p class="hint">{lock.keep}</p>}
      </KeyForm>
    </Section>
  );
}
