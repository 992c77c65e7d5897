import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { NotificationTarget } from '../../../packages/client/notifications/notification-routing.js';
import { invitationIn } from '../../../core/protocol/invitation-code.js';
import { Button } from '../ui/button.js';
import { Gate } from '../ui/gate.js';
import { lazyPart } from '../ui/lazy-part.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { t } from '../i18n/messages.js';
import { isKnownServer } from '../server.js';
import { useEndElsewhere } from './security/ended-elsewhere.js';
import { SignIn, type SignInProps } from './sign-in.js';
import {
  noteReplaced,
  keptAccountId,
  removeSession,
  savedPendingDevice,
  savedPendingProgram,
  savedSession,
  savePendingDevice,
  savePendingProgram,
  saveSession,
  takeArrival,
  type Arrival,
  type PendingDevice,
  type PendingProgram,
  type Session,
} from './tab-state.js';
import type { AccountActions } from './use-account.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { CLICKED, OPENED_BY, readClicked, VIEWING, type Clicked } from '../worker/page-messages.js';
import { forgetOtherKeys } from './approvals/browser-store.js';
import type { ClickedRequest } from './approvals/waiting-requests.js';
import { Section } from '../ui/section.js';
import { useEvents } from '../ui/use-events.js';

const AccountView = lazyPart(() => import('./account-view.js'), 'AccountView');

const Returned = lazyPart(() => import('./returned.js'), 'Returned');

const ProgramRequest = lazyPart(
  () => import('./programs/program-request.js'),
  'ProgramRequestView',
);

const ProviderNote = lazyPart(() => import('./programs/program-request.js'), 'ProviderNote');

const ForProgram = lazyPart(() => import('./programs/program-request.js'), 'ForProgram');

interface PageProps {
  readonly arrival: Arrival;
  /** The target of a clicked notification, from the address. */
  readonly request: NotificationTarget | null;
}

export function Page({ arrival, request }: PageProps) {
  const tab = useTab(arrival);
  const waiting = useWaitingRequest(request);
  const { returned, session, device, program, invitation, notice, notify } = tab;
  const { startSession, close } = tab;
  const finish = { startSession, close };
  const above = (
    <>
      <NoticeLine notice={notice} />
      <WaitingRequest {...waiting} />
    </>
  );
  if (returned !== null) {
    return (
      <Gate>
        {above}
        <Returned arrival={returned} session={session} {...finish} />
      </Gate>
    );
  }
  const isChanging = session !== null && tab.isChanging;
  if (program !== null && !isChanging && (session !== null || program.id === null)) {
    return (
      <Gate>
        {above}
        <ProgramRequest {...tab} program={program} />
      </Gate>
    );
  }
  if (session !== null && !isChanging) {
    return <AccountView {...tab} session={session} above={above} clicked={waiting} />;
  }
  return (
    <SignedOut
      {...{ device, program, invitation, startSession, notify, above }}
      back={isChanging ? () => tab.setChanging(false) : undefined}
      isFresh={isOpened(arrival) && device === null && notice === null && !isChanging}
    />
  );
}

interface SignedOutProps extends SignInProps {
  readonly device: PendingDevice | null;
  readonly program: PendingProgram | null;
  readonly above: ComponentChildren;
  /** Returns to the account of this tab, in place of which another one can be used. */
  readonly back: (() => void) | undefined;
}

function SignedOut({ device, program, above, back, ...props }: SignedOutProps) {
  return (
    <Gate>
      {above}
      {device !== null && <p>{t.signIn.forDevice}</p>}
      {program !== null && <ForProgram back={back} />}
      <SignIn
        key={props.invitation}
        {...props}
        providerNote={back !== undefined && <ProviderNote />}
      />
    </Gate>
  );
}

function isOpened({ kind }: Arrival): boolean {
  return kind === 'opened' || kind === 'program';
}

/** The code of an invitation link. One that is opened in this tab changes only the fragment and loads nothing. */
function useInvitation(
  first: Arrival,
  session: Session | null,
  notify: (last: Notice | null) => void,
) {
  const state = useState(first.kind === 'invited' && session === null ? first.code : null);
  useEvents(() => {
    const arrival = invitationIn(location.hash) === null ? null : takeArrival();
    if (arrival?.kind === 'invited') {
      const [, set] = state;
      set(session === null ? arrival.code : null);
      notify(session === null ? null : problem(() => t.signIn.invitedAlready));
    }
  }, 'hashchange');
  return state;
}

/** The session of this tab, the unhandled answer and device, and the last notice. */
function useTab(arrival: Arrival) {
  const isReturned = arrival.kind === 'returned' || arrival.kind === 'certificate';
  const [returned, setReturned] = useState(isReturned ? arrival : null);
  const [session, setSession] = useState<Session | null>(savedSession);
  const [device, setDevice] = useKept(savedPendingDevice, savePendingDevice);
  const [program, setProgram] = useKept(savedPendingProgram, savePendingProgram);
  const [notice, notify] = useState<Notice | null>(() => firstNotice(arrival, session));
  const [invitation, setInvitation] = useInvitation(arrival, session, notify);
  const close = useCallback((last: Notice | null) => {
    setReturned(null);
    notify(last);
  }, []);
  const [isChanging, setChanging] = useState(false);
  const startSession = useCallback(
    (next: Session, last: Notice | null = null) => {
      saveSession(next, session);
      setSession(next);
      setChanging(false);
      setInvitation(null);
      close(last);
    },
    [session],
  );
  const endSession = useSessionEnd(session, (other, last) => {
    setSession(other);
    notify(other === null ? last : null);
  });
  useEndElsewhere(session?.token, endSession);
  // The keys for requests end with the session that this browser keeps.
  useEffect(() => void forgetOtherKeys(keptAccountId()).catch(() => undefined), [session]);
  const known = { returned, session, device, program, invitation, notice };
  const acts = { setDevice, setProgram, notify, startSession, endSession, close };
  return { ...known, ...acts, isChanging, setChanging };
}

/** A state that this tab keeps while the browser is at a provider. */
function useKept<Value>(read: () => Value | null, save: (next: Value | null) => void) {
  const [value, show] = useState<Value | null>(read);
  const set = useCallback((next: Value | null) => {
    save(next);
    show(next);
  }, []);
  return [value, set] as const;
}

/** @param use receives the session with which another tab replaced this one; null = none */
function useSessionEnd(
  session: Session | null,
  use: (other: Session | null, last: Notice) => void,
): AccountActions['endSession'] {
  const current = useRef(session);
  current.current = session;
  const token = session?.token;
  const end = (last: Notice, isSignOut = false) => {
    const ended = current.current;
    // A late answer can refuse a session that another one has replaced in this tab.
    if (ended?.token !== token) {
      return;
    }
    const other = ended === null ? null : removeSession(ended);
    if (isSignOut) {
      // The next person begins with the overview.
      history.replaceState(null, '', document.baseURI);
    } else if (ended !== null && other === null) {
      noteReplaced(ended);
    }
    use(other, ended === null ? last : namingAccount(last, ended));
  };
  return useCallback(end, [token]);
}

/** The error does not name the account where the session did. */
function namingAccount(notice: Notice, { accountId }: Session): Notice {
  const { refusal } = notice;
  return refusal === undefined ? notice : { ...notice, refusal: { ...refusal, accountId } };
}

/** The notice for an address that is damaged or expired. */
function firstNotice(arrival: Arrival, session: Session | null): Notice | null {
  if (arrival.kind === 'invited' && session !== null) {
    return problem(() => t.signIn.invitedAlready);
  }
  if (arrival.kind !== 'device' || arrival.fault === null) {
    return null;
  }
  const { fault } = arrival;
  return problem(() => t.add[fault]);
}

/** Appears until the request is opened, and for one that this server does not have. */
function WaitingRequest({ target, dismiss }: ClickedRequest) {
  if (target === null) {
    return null;
  }
  const { topic, serverUrl: server, sessionId, requestId } = target;
  const isHere = isKnownServer(server);
  const { waiting } = t;
  return (
    <Section id="waiting" title={waiting[topic]}>
      <dl>
        {!isHere && <dt>{waiting.server}</dt>}
        {!isHere && <dd class="code">{server}</dd>}
        <dt>{waiting.session}</dt>
        <dd class="code">{sessionId}</dd>
        {requestId !== null && <dt>{waiting.request}</dt>}
        {requestId !== null && <dd class="code">{requestId}</dd>}
      </dl>
      <p class="quiet">{isHere ? waiting.hint : waiting.otherServer}</p>
      <div class="row">
        <Button onClick={dismiss} text={t.dismiss} />
      </div>
    </Section>
  );
}

/** @param first the request of the address at which this page was opened */
function useWaitingRequest(first: NotificationTarget | null): ClickedRequest {
  const [clicked, setClicked] = useState<ShownClick>({ target: first, pressed: null });
  const { target } = clicked;
  useLayoutEffect(() => listen(target, setClicked), [target]);
  useEffect(() => {
    const requestId = first?.requestId ?? null;
    if (requestId !== null) {
      openedBy(requestId).then(
        (by) => by?.pressed && setClicked(by),
        () => undefined,
      );
    }
  }, []);
  return { ...clicked, dismiss: () => setClicked({ target: null, pressed: null }) };
}

type ShownClick = Omit<ClickedRequest, 'dismiss'>;

/** Asks the worker: the address of the page could be a link of anyone. */
async function openedBy(requestId: string): Promise<Clicked | null> {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const registration = await workers?.getRegistration(document.baseURI);
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<unknown>) => resolve(readClicked(data));
    registration?.active?.postMessage({ [OPENED_BY]: requestId }, [port2]);
  });
}

/** Also answers messages of the worker. */
function listen(target: NotificationTarget | null, show: (clicked: Clicked) => void): () => void {
  // Undefined outside secure contexts.
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const onMessage = ({ data, ports: [port] }: MessageEvent<unknown>) => {
    if (data === VIEWING) {
      port?.postMessage(target);
    } else {
      const clicked = readClicked(isRecord(data) ? data[CLICKED] : null);
      if (clicked !== null) {
        show(clicked);
      }
    }
  };
  workers?.addEventListener('message', onMessage);
  workers?.startMessages();
  return () => workers?.removeEventListener('message', onMessage);
}
