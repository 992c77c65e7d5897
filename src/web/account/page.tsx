import { useCallback, useState } from 'preact/hooks';
import { serverUrl } from '../server.js';
import { NoticeLine, type Notice } from '../ui/notice.js';
import { AccountView } from './account-view.js';
import { CertificateReturned, ProviderReturned } from './returned.js';
import { SignIn } from './sign-in.js';
import {
  removeSession,
  savedSession,
  saveSession,
  type Arrival,
  type Session,
} from './tab-state.js';

/** The whole page: first the answer of a provider, then the account or the sign-in. */
export function Page({ arrival }: { arrival: Arrival }) {
  const { returned, session, notice, notify, startSession, endSession, close } = useTab(arrival);
  const finish = { startSession, close };
  return (
    <>
      <header>
        <h1>Gatehouse at {new URL(serverUrl()).host}</h1>
      </header>
      <NoticeLine notice={notice} />
      <main>
        {returned?.kind === 'certificate' && <CertificateReturned arrival={returned} {...finish} />}
        {returned?.kind === 'returned' && (
          <ProviderReturned arrival={returned} session={session} notify={notify} {...finish} />
        )}
        {returned === null && session !== null && (
          <AccountView session={session} endSession={endSession} notify={notify} />
        )}
        {returned === null && session === null && (
          <SignIn
            isFresh={arrival.kind === 'opened' && notice === null}
            startSession={startSession}
            notify={notify}
          />
        )}
      </main>
    </>
  );
}

/** The session of this tab, the answer still to be handled, and the last notice. */
function useTab(arrival: Arrival) {
  const [returned, setReturned] = useState(arrival.kind === 'opened' ? null : arrival);
  const [session, setSession] = useState<Session | null>(savedSession);
  const [notice, notify] = useState<Notice | null>(null);
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
  return { returned, session, notice, notify, startSession, endSession, close };
}
