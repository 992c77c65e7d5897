import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { NotificationTarget } from '../../client/notifications/notification-routing.js';
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
  const { returned, session, device, notice, notify, startSession, close } = tab;
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
        isFresh={arrival.kind === 'opened' && device === null && notice === null}
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

/** The session of this tab, the answer and the device still to be handled, and the last notice. */
function useTab(arrival: Arrival) {
  const isReturned = arrival.kind === 'returned' || arrival.kind === 'certificate';
  const [returned, setReturned] = useState(isReturned ? arrival : null);
  const [session, setSession] = useState<Session | null>(savedSession);
  const [device, showDevice] = useState<PendingDevice | null>(savedPendingDevice);
  const [notice, notify] = useState<Notice | null>(
    arrival.kind === 'device' && arrival.isDamaged ? problem(words.add.damaged) : null,
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
    close(last);
  }, []);
  const endSession = useCallback((last: Notice) => {
    removeSession();
    setSession(null);
    notify(last);
  }, []);
  return { returned, session, device, setDevice, notice, notify, startSession, endSession, close };
}
