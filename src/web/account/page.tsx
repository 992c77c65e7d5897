import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { NotificationTarget } from '../../client/notifications/notification-routing.js';
import { invitationIn } from '../../policy/flow/invitation-code.js';
import { Brand } from '../brand.js';
import { LanguageChoice } from '../ui/language-choice.js';
import { lazyPart } from '../ui/lazy-part.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { words } from '../words/words.js';
import type { AccountViewProps } from './account-view.js';
import { CertificateReturned, ProviderReturned } from './returned.js';
import { SignIn } from './sign-in.js';
import {
  removeSession,
  savedPendingDevice,
  savedSession,
  savePendingDevice,
  saveSession,
  takeArrival,
  type Arrival,
  type PendingDevice,
  type Session,
} from './tab-state.js';
import { useWaitingRequest, WaitingRequest } from './waiting-request.js';

const AccountView = lazyPart<AccountViewProps>(async () => {
  return (await import('./account-view.js')).AccountView;
});

interface PageProps {
  readonly arrival: Arrival;
  /** What the address asks to show: a notification was clicked. */
  readonly request: NotificationTarget | null;
}

/** The whole page: first the answer of a provider, then the account or the sign-in. */
export function Page({ arrival, request }: PageProps) {
  const tab = useTab(arrival);
  const waiting = useWaitingRequest(request);
  const { returned, session, device, invitation, notice, notify, startSession, close } = tab;
  const finish = { startSession, close };
  const above = (
    <>
      <NoticeLine notice={notice} />
      <WaitingRequest {...waiting} />
    </>
  );
  if (returned !== null) {
    return (
      <Gate above={above}>
        {returned.kind === 'certificate' ? (
          <CertificateReturned arrival={returned} session={session} {...finish} />
        ) : (
          <ProviderReturned arrival={returned} session={session} {...finish} />
        )}
      </Gate>
    );
  }
  if (session !== null) {
    return <AccountView {...tab} session={session} above={above} />;
  }
  return (
    <Gate above={above}>
      {device !== null && <p>{words.signIn.forDevice}</p>}
      <SignIn
        key={invitation}
        isFresh={arrival.kind === 'opened' && device === null && notice === null}
        invitation={invitation}
        startSession={startSession}
        notify={notify}
      />
    </Gate>
  );
}

interface GateProps {
  readonly above: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The page of a person who is not signed in yet. */
function Gate({ above, children }: GateProps) {
  return (
    <div class="gate">
      <header>
        <Brand withHost />
      </header>
      <main>
        {above}
        {children}
      </main>
      <footer>
        <LanguageChoice />
      </footer>
    </div>
  );
}

/** Calls back for the link of an invitation in a tab that shows the page already: nothing is loaded then. */
function useInvitationLinks(receive: (code: string) => void): void {
  useEffect(() => {
    const take = () => {
      const arrival = invitationIn(location.hash) === null ? null : takeArrival();
      if (arrival?.kind === 'invited') {
        receive(arrival.code);
      }
    };
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, [receive]);
}

/** The session of this tab, the answer and the device still to be handled, and the last notice. */
function useTab(arrival: Arrival) {
  const isReturned = arrival.kind === 'returned' || arrival.kind === 'certificate';
  const [returned, setReturned] = useState(isReturned ? arrival : null);
  const [session, setSession] = useState<Session | null>(savedSession);
  const [device, showDevice] = useState<PendingDevice | null>(savedPendingDevice);
  const [notice, notify] = useState<Notice | null>(() => firstNotice(arrival, session));
  const [invitation, setInvitation] = useState(
    arrival.kind === 'invited' && session === null ? arrival.code : null,
  );
  const setDevice = useCallback((next: PendingDevice | null) => {
    savePendingDevice(next);
    showDevice(next);
  }, []);
  const close = useCallback((last: Notice | null) => {
    setReturned(null);
    notify(last);
  }, []);
  const startSession = useCallback((next: Session, last: Notice | null = null) => {
    saveSession(next);
    setSession(next);
    setInvitation(null);
    close(last);
  }, []);
  const endSession = useCallback((last: Notice) => {
    removeSession();
    setSession(null);
    notify(last);
  }, []);
  const receive = useCallback(
    (code: string) => {
      setInvitation(session === null ? code : null);
      notify(session === null ? null : problem(words.signIn.invitedAlready));
    },
    [session],
  );
  useInvitationLinks(receive);
  const known = { returned, session, device, invitation, notice };
  return { ...known, setDevice, notify, startSession, endSession, close };
}

/** What is wrong with the address this page was opened at. */
function firstNotice(arrival: Arrival, session: Session | null): Notice | null {
  if (arrival.kind === 'invited' && session !== null) {
    return problem(words.signIn.invitedAlready);
  }
  return arrival.kind === 'device' && arrival.isDamaged ? problem(words.add.damaged) : null;
}
