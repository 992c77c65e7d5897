import { useCallback, useState } from 'preact/hooks';
import { serverUrl } from '../server.js';
import { lazyPart } from '../ui/lazy-part.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { AccountView } from './account-view.js';
import type { AddDeviceProps } from './add-device.js';
import { CertificateReturned, ProviderReturned } from './returned.js';
import { SignIn } from './sign-in.js';
import {
  removeSession,
  savedPendingDevice,
  savedSession,
  savePendingDevice,
  saveSession,
  UNKNOWN_DEVICE,
  type Arrival,
  type PendingDevice,
  type Session,
} from './tab-state.js';

const AddDevice = lazyPart<AddDeviceProps>(async () => {
  return (await import('./add-device.js')).AddDevice;
});

/** The whole page: first the answer of a provider, then the account or the sign-in. */
export function Page({ arrival }: { arrival: Arrival }) {
  const tab = useTab(arrival);
  const { returned, session, device, notice, notify, startSession, endSession, close } = tab;
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
        {returned === null && session !== null && device !== null && (
          <AddDevice {...tab} session={session} device={device} />
        )}
        {returned === null && session !== null && device === null && (
          <AccountView
            session={session}
            endSession={endSession}
            notify={notify}
            addDevice={() => tab.setDevice(UNKNOWN_DEVICE)}
          />
        )}
        {returned === null && session === null && (
          <>
            {device !== null && <p>Sign in to the account that the new device is added to.</p>}
            <SignIn
              isFresh={arrival.kind === 'opened' && device === null && notice === null}
              startSession={startSession}
              notify={notify}
            />
          </>
        )}
      </main>
    </>
  );
}

/** The session of this tab, the answer and the device still to be handled, and the last notice. */
function useTab(arrival: Arrival) {
  const isReturned = arrival.kind === 'returned' || arrival.kind === 'certificate';
  const [returned, setReturned] = useState(isReturned ? arrival : null);
  const [session, setSession] = useState<Session | null>(savedSession);
  const [device, showDevice] = useState<PendingDevice | null>(savedPendingDevice);
  const [notice, notify] = useState<Notice | null>(
    arrival.kind === 'device' && arrival.isDamaged
      ? problem('This link is damaged. Type the code that the new device shows.')
      : null,
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
  return {
    returned,
    session,
    device,
    setDevice,
    notice,
    notify,
    startSession,
    endSession,
    close,
  };
}
