import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Brand, brand } from '../brand.js';
import { Icon, type IconName } from '../ui/icon.js';
import { LanguageChoice } from '../ui/language-choice.js';
import { lazyPart } from '../ui/lazy-part.js';
import { Loading } from '../ui/notice.js';
import { failureMessage } from '../words/failure.js';
import { words } from '../words/words.js';
import type { AddDeviceProps } from './add-device.js';
import { useOwnToken } from './notifications/push-subscription.js';
import { DevicesSection } from './devices/devices-section.js';
import { Overview } from './overview.js';
import { SECTIONS, useSection, type Section } from './sections.js';
import { SecuritySection } from './security/security-section.js';
import { SignOut, useEndings } from './security/sign-out.js';
import { UNKNOWN_DEVICE } from './tab-state.js';
import { useAccount, type SectionProps } from './use-account.js';

const AddDevice = lazyPart<AddDeviceProps>(async () => {
  return (await import('./add-device.js')).AddDevice;
});

const NotificationsSection = lazyPart<SectionProps>(async () => {
  return (await import('./notifications/notifications-section.js')).NotificationsSection;
});

export interface AccountViewProps extends Omit<AddDeviceProps, 'device'> {
  readonly device: AddDeviceProps['device'] | null;
  /** Above every section: what happened, and what waits. */
  readonly above: ComponentChildren;
}

/** What the server stores about the account for its owner, and what the owner can change. */
export function AccountView({ device, setDevice, startSession, above, ...tab }: AccountViewProps) {
  const { session, endSession, notify } = tab;
  const { account, reload, isEnding } = useAccount(session, endSession, notify);
  const own = useOwnToken(account);
  const section = useSection();
  const actions = { session, endSession, notify, reload };
  const endings = useEndings({ ...actions, isEnding });
  const Content = CONTENT[section];
  const leave = () => {
    notify(null);
    setDevice(null);
  };
  return (
    <>
      <header class="topbar">
        <Brand />
        <div class="row">
          <LanguageChoice />
          <SignOut endings={endings} />
        </div>
      </header>
      <div class="frame">
        <Tabs current={section} leave={leave} />
        <main>
          <Title section={section} />
          {above}
          {account?.refusal && <p class="problem">{failureMessage(account.refusal)}</p>}
          {device !== null && <AddDevice {...{ device, setDevice, startSession, ...actions }} />}
          {device === null && account === null && <Loading retry={reload} notify={notify} />}
          {device === null && account !== null && (
            <Content
              {...{ account, own, endings, ...actions }}
              addDevice={() => setDevice(UNKNOWN_DEVICE)}
            />
          )}
        </main>
      </div>
    </>
  );
}

const CONTENT: Readonly<Record<Section, ComponentType<SectionProps>>> = {
  overview: Overview,
  devices: DevicesSection,
  notifications: NotificationsSection,
  security: SecuritySection,
};

const ICONS: Readonly<Record<Section, IconName>> = {
  overview: 'home',
  devices: 'computer',
  notifications: 'bell',
  security: 'shield',
};

interface TabsProps {
  readonly current: Section;
  /** Shows a section in place of the device that is being added. */
  readonly leave: () => void;
}

function Tabs({ current, leave }: TabsProps) {
  return (
    <nav class="tabs" aria-label={words.nav.label}>
      {SECTIONS.map((section) => (
        <a
          key={section}
          href={`#${section}`}
          aria-current={section === current ? 'page' : undefined}
          onClick={leave}
        >
          <Icon name={ICONS[section]} />
          {words.nav[section]}
        </a>
      ))}
    </nav>
  );
}

/** The heading takes the focus where the section changes, so that screen readers announce it. */
function Title({ section }: { readonly section: Section }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(section);
  const title = section === 'overview' ? words.overview.title : words.nav[section];
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
    if (shown.current !== section) {
      shown.current = section;
      heading.current?.focus();
    }
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
