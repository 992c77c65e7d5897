import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useFocus } from '../ui/use-focus.js';
import { Brand, brand } from '../brand.js';
import { Icon, type IconName } from '../ui/icon.js';
import { LanguageChoice } from '../ui/language-choice.js';
import { lazyPart } from '../ui/lazy-part.js';
import { Loading, type Notify } from '../ui/notice.js';
import { t } from '../i18n/messages.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import type { AddDeviceProps } from './add-device.js';
import { useOwnToken, ownToken } from './notifications/push-subscription.js';
import { DevicesSection } from './devices/devices-section.js';
import { sessionWithKey } from './key-memory.js';
import { Overview } from './overview.js';
import { useWaitingRequests, type ClickedRequest } from './approvals/waiting-requests.js';
import { useForgottenKey } from './security/forgotten-key.js';
import { SECTIONS, sectionIn, useSection, type Section } from './sections.js';
import { SecuritySection } from './security/security-section.js';
import { SignOut, useEndings } from './security/sign-out.js';
import { UNKNOWN_DEVICE, takeReplaced, type Session } from './tab-state.js';
import { useAccount, type Endings, type SectionProps } from './use-account.js';
import { clientFor } from '../server.js';
import { useEvents } from '../ui/use-events.js';

const Refusal = lazyPart(() => import('./refusal.js'), 'Refusal');

const AddDevice = lazyPart(() => import('./add-device.js'), 'AddDevice');

const RequestsSection = lazyPart(
  () => import('./approvals/requests-section.js'),
  'RequestsSection',
);

const NotificationsSection = lazyPart(
  () => import('./notifications/notifications-section.js'),
  'NotificationsSection',
);

export interface AccountViewProps extends Omit<AddDeviceProps, 'device'> {
  readonly device: AddDeviceProps['device'] | null;
  readonly above: ComponentChildren;
  /** The request of a clicked notification. */
  readonly clicked: ClickedRequest;
}

export function AccountView(props: AccountViewProps) {
  const { device, setDevice, startSession, above, clicked, ...tab } = props;
  const { session, endSession, notify } = tab;
  useReplacedSession(session);
  const { account, reload, refresh, isEnding } = useAccount(session, endSession, notify);
  const own = useOwnToken(account);
  const { waiting, pressedAllow } = useWaitingRequests(account, tab, clicked);
  const wanted = useSection();
  const hasSection = wanted !== 'requests' || account === null || waiting !== null;
  const section = hasSection ? wanted : 'overview';
  const forgotten = useForgottenKey(session.accountId);
  const noteKey = (key: DeviceKey, isEntered = true) =>
    startSession(sessionWithKey(session, key, isEntered || session.isKeyEntered));
  const actions = { session, endSession, notify, reload, noteKey };
  const endings = useEndings({ ...actions, isEnding });
  return (
    <>
      <TopBar endings={endings} />
      <div class="frame">
        <Tabs {...{ section, waiting, notify, setDevice }} isKnown={account !== null} />
        <main>
          <Title section={section} />
          {above}
          {account?.refusal && <Refusal {...{ account, refresh, ...actions }} />}
          {device !== null && (
            <AddDevice key={forgotten} {...{ device, setDevice, startSession, ...actions }} />
          )}
          {device === null && account === null && <Loading retry={reload} notify={notify} />}
          {device === null && account !== null && (
            <SectionContent
              key={`${section} ${forgotten}`}
              {...{ section, account, own, endings, refresh, waiting, pressedAllow, ...actions }}
              addDevice={() => setDevice(UNKNOWN_DEVICE)}
            />
          )}
        </main>
      </div>
    </>
  );
}

/** Replaced when another tab forgets the key, because some sections hold it. */
function SectionContent({ section, ...props }: SectionProps & { readonly section: Section }) {
  const Content = CONTENT[section];
  return <Content {...props} />;
}

function TopBar({ endings }: { readonly endings: Endings }) {
  return (
    <header class="topbar">
      <Brand />
      <div class="row">
        <LanguageChoice />
        <SignOut endings={endings} />
      </div>
    </header>
  );
}

const CONTENT: Readonly<Record<Section, ComponentType<SectionProps>>> = {
  overview: Overview,
  requests: RequestsSection,
  devices: DevicesSection,
  notifications: NotificationsSection,
  security: SecuritySection,
};

const ICONS: Readonly<Record<Section, IconName>> = {
  overview: 'home',
  requests: 'inbox',
  devices: 'computer',
  notifications: 'bell',
  security: 'shield',
};

interface TabsProps extends Pick<AccountViewProps, 'notify' | 'setDevice'> {
  readonly section: Section;
  readonly waiting: SectionProps['waiting'];
  /** False until the account says which sections it has. */
  readonly isKnown: boolean;
}

function Tabs({ section: current, waiting, isKnown, notify, setDevice }: TabsProps) {
  const sections = SECTIONS.filter((section) => section !== 'requests' || waiting !== null);
  useNoticeOfSection(notify);
  const leave = () => {
    notify(null);
    setDevice(null);
  };
  return (
    <nav class={isKnown ? 'tabs' : 'tabs unknown'} aria-label={t.nav.label}>
      {sections.map((section) => (
        <a
          key={section}
          href={`#${section}`}
          aria-current={section === current ? 'page' : undefined}
          onClick={leave}
        >
          <Icon name={ICONS[section]} />
          {t.nav[section]}
          {section === 'requests' && waiting !== null && waiting.length > 0 && (
            <span class="badge accent" aria-label={t.nav.waiting(waiting.length)}>
              {waiting.length}
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

function Title({ section }: { readonly section: Section }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const title = section === 'overview' ? t.overview.title : t.nav[section];
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  useFocus(heading, section);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}

/** Clears the notice when another page of the account opens: it reports an action of the last one. */
function useNoticeOfSection(notify: Notify): void {
  useEvents(() => {
    // An invitation link is no page of the account, and has a notice of its own.
    if (sectionIn(location.hash) !== null) {
      notify(null);
    }
  }, 'hashchange');
}

/** Ends the session that this one replaced in this tab: its token would otherwise stay valid. */
function useReplacedSession(session: Session): void {
  useEffect(() => {
    const replaced = takeReplaced();
    if (replaced !== null && replaced.token !== session.token) {
      // It has ended already, or it expires.
      endReplaced(replaced, session).catch(() => undefined);
    }
  }, [session.token]);
}

async function endReplaced(replaced: Session, session: Session): Promise<void> {
  if (replaced.accountId === session.accountId) {
    await adoptPushToken(session);
  }
  await clientFor(replaced.token).logOut();
}

/** A push token ends with the session that saved it last. */
async function adoptPushToken({ token }: Session): Promise<void> {
  const client = clientFor(token);
  const own = await ownToken().catch(() => null);
  const saved = own === null ? [] : await client.pushTokens();
  if (own !== null && saved.some((one) => one.token === own)) {
    await client.savePushToken(own);
  }
}
