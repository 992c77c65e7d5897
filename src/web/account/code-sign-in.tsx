import { useEffect, useState } from 'preact/hooks';
import { waitForApproval } from '../../client/api/device-routes.js';
import { deviceLink } from '../../client/crypto/device-link.js';
import { makeDeviceSecrets } from '../../client/crypto/device-sealing.js';
import { deviceCheckWords } from '../../protocol/device-check-words.js';
import { browserName } from '../browser-name.js';
import { clientFor, serverUrl } from '../server.js';
import { failure, type Notify } from '../ui/notice.js';
import { QrCode } from '../ui/qr-code.js';
import { t } from '../i18n/messages.js';
import type { Session } from './tab-state.js';

export interface CodeSignInProps {
  readonly startSession: (session: Session) => void;
  readonly close: Notify;
}

interface Invitation {
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

/** The session that this page receives has no key. */
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
      <h1 id="code-sign-in">{t.code.title}</h1>
      {shown === null ? <p class="waiting">{t.moment}</p> : <Invite {...shown} />}
      <button type="button" class="link" onClick={() => close(null)}>
        {t.cancel}
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
      <p>{t.code.scan}</p>
      <QrCode text={link} label={t.code.qr} />
      <p class="words big center">{userCode}</p>
      <div class="lead">
        <p>{t.code.check}</p>
        <p class="words">{checkWords.join(' ')}</p>
      </div>
      <p class="waiting" role="status">
        {t.code.waiting}
      </p>
    </>
  );
}
