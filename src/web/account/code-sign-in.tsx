import { encodeQR } from 'qr';
import { useEffect, useState } from 'preact/hooks';
import { waitForApproval } from '../../client/api/device-routes.js';
import { deviceCheckWords } from '../../client/crypto/device-check-words.js';
import { deviceLink } from '../../client/crypto/device-link.js';
import { makeDeviceSecrets } from '../../client/crypto/device-sealing.js';
import { browserName } from '../browser-name.js';
import { clientFor, serverUrl } from '../server.js';
import { failure, type Notify } from '../ui/notice.js';
import { words } from '../words/words.js';
import type { Session } from './tab-state.js';

/** The quiet zone in modules (ISO/IEC 18004). */
const BORDER = 4;

export interface CodeSignInProps {
  readonly startSession: (session: Session) => void;
  /** Ends it without a session. */
  readonly close: Notify;
}

interface Invitation {
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

/** Signs this page in with a code that another device approves. It keeps the session, and no key. */
export function CodeSignIn({ startSession, close }: CodeSignInProps) {
  const [shown, setShown] = useState<Invitation | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    signIn(setShown, stop.signal).then(startSession, (error: unknown) => {
      if (!stop.signal.aborted) {
        close(failure(error));
      }
    });
    return () => stop.abort();
  }, []);
  return (
    <section aria-labelledby="code-sign-in">
      <h1 id="code-sign-in">{words.code.title}</h1>
      {shown === null ? <p class="waiting">{words.moment}</p> : <Invite {...shown} />}
      <button type="button" class="link" onClick={() => close(null)}>
        {words.cancel}
      </button>
    </section>
  );
}

async function signIn(show: (shown: Invitation) => void, stop: AbortSignal): Promise<Session> {
  const { devices } = clientFor();
  const secrets = await makeDeviceSecrets();
  const { publicKey, proof } = secrets;
  const request = await devices.request({
    ...secrets,
    client: { name: browserName(), platform: 'web' },
  });
  const { userCode } = request;
  const link = deviceLink({ serverUrl: serverUrl(), userCode, publicKey });
  show({ userCode, link, checkWords: deviceCheckWords(publicKey) });
  const sleep = (ms: number) => waitUnless(stop, ms);
  const { token, accountId } = await waitForApproval(devices, request, proof, { sleep });
  return { token, accountId };
}

function waitUnless(stop: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(() => (stop.aborted ? reject(new Error('cancelled')) : resolve()), ms);
  });
}

function Invite({ userCode, link, checkWords }: Invitation) {
  return (
    <>
      <p>{words.code.scan}</p>
      <QrCode text={link} />
      <p class="words big center">{userCode}</p>
      <div class="lead">
        <p>{words.code.check}</p>
        <p class="words">{checkWords.join(' ')}</p>
      </div>
      <p class="waiting" role="status">
        {words.code.waiting}
      </p>
    </>
  );
}

/** Black on white in light and dark mode alike: some scanners read no inverted code. */
function QrCode({ text }: { text: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: BORDER });
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={words.code.qr}
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
