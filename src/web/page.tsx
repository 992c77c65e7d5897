import { useCallback, useState } from 'preact/hooks';
import { AccountView } from './account-view.js';
import type { Arrival } from './arrival.js';
import { CertificateReturned } from './certificate.js';
import { Returned } from './returned.js';
import { serverUrl } from './server.js';
import { SignIn } from './sign-in.js';
import { forgetSession, rememberedSession, rememberSession, type Session } from './tab-memory.js';
import type { Notice } from './words.js';

/** The whole page: what came back from a provider first, then the account or the ways into one. */
export function Page({ arrival }: { arrival: Arrival }) {
  const { returned, session, notice, tell, enter, leave, goOn } = useEntrance(arrival);
  return (
    <>
      <header>
        <h1>Gatehouse at {new URL(serverUrl()).host}</h1>
      </header>
      <Told notice={notice} />
      <main>
        {returned?.kind === 'certificate' && (
          <CertificateReturned arrival={returned} enter={enter} goOn={goOn} />
        )}
        {returned?.kind === 'returned' && (
          <Returned arrival={returned} session={session} enter={enter} goOn={goOn} tell={tell} />
        )}
        {returned === null && session !== null && (
          <AccountView session={session} leave={leave} tell={tell} />
        )}
        {returned === null && session === null && (
          <SignIn
            isFresh={arrival.kind === 'opened' && notice === null}
            enter={enter}
            tell={tell}
          />
        )}
      </main>
    </>
  );
}

/** Who is in, what is still to be finished, and what the person was told last. */
function useEntrance(arrival: Arrival) {
  const [returned, setReturned] = useState(arrival.kind === 'opened' ? null : arrival);
  const [session, setSession] = useState<Session | null>(rememberedSession);
  const [notice, tell] = useState<Notice | null>(null);
  const goOn = useCallback((words: Notice | null) => {
    setReturned(null);
    tell(words);
  }, []);
  const enter = useCallback((next: Session, words: Notice | null = null) => {
    rememberSession(next);
    setSession(next);
    goOn(words);
  }, []);
  const leave = useCallback((words: Notice) => {
    forgetSession();
    setSession(null);
    tell(words);
  }, []);
  return { returned, session, notice, tell, enter, leave, goOn };
}

function Told({ notice }: { notice: Notice | null }) {
  return (
    <div class="told" role={notice?.kind === 'problem' ? 'alert' : 'status'}>
      {notice !== null && <p class={notice.kind}>{notice.text}</p>}
    </div>
  );
}
