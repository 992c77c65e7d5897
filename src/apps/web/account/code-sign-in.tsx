import { useEffect, useRef, useState } from 'preact/hooks';
import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import type { Fetch } from '../../../packages/client/api/api-client-transport.js';
import { waitForApproval } from '../../../packages/client/devices/device-routes.js';
import { deviceLink } from '../../../packages/client/devices/device-link.js';
import {
  makeDeviceSecrets,
  openApproval,
  type HandedAccount,
  type OpenedApproval,
} from '../../../packages/client/devices/device-sealing.js';
import { requestDevice } from '../../../packages/client/devices/device-server.js';
import { adoptPin } from '../../../packages/client/settings/account-pin.js';
import { deviceKeyWords } from '../../../core/protocol/device-words.js';
import { browserName } from '../browser-name.js';
import { clientFor, serverUrl } from '../server.js';
import { Button } from '../ui/button.js';
import { submitting, TextField, textOf } from '../ui/fields.js';
import { FormButtons } from '../ui/form-buttons.js';
import { failure, NoticeLine, useNotedAction, type Notice, type Notify } from '../ui/notice.js';
import { QrCode } from '../ui/qr-code.js';
import { useEvents } from '../ui/use-events.js';
import { t } from '../i18n/messages.js';
import { pinsOf } from './account-pins.js';
import type { Session } from './tab-state.js';

interface CodeSignInProps {
  readonly startSession: (session: Session) => void;
  readonly close: Notify;
}

interface Invitation {
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

interface Approved {
  readonly token: string;
  readonly opened: OpenedApproval;
}

/** The session that this page receives has no key. */
export function CodeSignIn({ startSession, close }: CodeSignInProps) {
  const [shown, setShown] = useState<Invitation | null>(null);
  const [approved, setApproved] = useState<Approved | null>(null);
  /** The token of a session that the person has not accepted. */
  const unused = useRef<string | null>(null);
  const end = (notice: Notice | null) => close(notice);
  useEffect(() => {
    const stop = new AbortController();
    const keep = (token: string) => (unused.current = token);
    signIn(setShown, keep, stop.signal).then(setApproved, (error: unknown) => {
      if (!stop.signal.aborted) {
        end(failure(error));
      }
    });
    return () => {
      stop.abort();
      endSession(unused.current);
    };
  }, []);
  // A page that is closed or reloaded runs no effects.
  useEvents(() => endSession(unused.current), 'pagehide');
  const accept = async (account: HandedAccount, token: string) => {
    const { accountId, key, encryptionMode: mode, settings } = account;
    if (key !== null) {
      await adoptPin(pinsOf(accountId), { mode, settings });
    }
    unused.current = null;
    startSession({ token, accountId });
  };
  return (
    <section aria-labelledby="code-sign-in">
      <h1 id="code-sign-in">{t.code.title}</h1>
      {approved === null ? (
        <Waiting shown={shown} cancel={() => end(null)} />
      ) : (
        <Confirmation approved={approved} accept={accept} end={end} />
      )}
    </section>
  );
}

/** Sends nothing where no session was received. */
function endSession(token: string | null): void {
  if (token !== null) {
    const outlivingPage: Fetch = (url, init) => fetch(url, { ...init, keepalive: true });
    new GatehouseClient({ serverUrl: serverUrl(), token, fetch: outlivingPage })
      .logOut()
      .catch(() => undefined);
  }
}

interface WaitingProps {
  readonly shown: Invitation | null;
  readonly cancel: () => void;
}

function Waiting({ shown, cancel }: WaitingProps) {
  return (
    <>
      {shown === null ? <p class="waiting">{t.moment}</p> : <Invite {...shown} />}
      <Button class="link" onClick={cancel} text={t.cancel} />
    </>
  );
}

async function signIn(
  show: (shown: Invitation) => void,
  keep: (token: string) => void,
  stop: AbortSignal,
): Promise<Approved> {
  const visitor = clientFor();
  const secrets = await makeDeviceSecrets();
  const { publicKey, proof, linkSecret } = secrets;
  const client = { name: browserName(), platform: 'web' };
  const request = await requestDevice(visitor, { ...secrets, client });
  const { userCode, origins } = request;
  const link = deviceLink({ serverUrl: serverUrl(), userCode, publicKey, linkSecret });
  show({ userCode, link, checkWords: deviceKeyWords({ publicKey, origins }) });
  const sleep = (ms: number) => waitUnless(stop, ms);
  const approved = await waitForApproval(visitor.devices, request, proof, { sleep });
  if (stop.aborted) {
    endSession(approved.token);
    throw new Error('cancelled');
  }
  keep(approved.token);
  return { token: approved.token, opened: await openApproval(secrets, origins, approved) };
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

interface ConfirmationProps {
  readonly approved: Approved;
  readonly accept: (account: HandedAccount, token: string) => Promise<void>;
  readonly end: (notice: Notice | null) => void;
}

/** Nothing is stored before the person has confirmed whose account it is. */
function Confirmation({ approved: { token, opened }, accept, end }: ConfirmationProps) {
  const [account, setAccount] = useState(opened.via === 'link' ? opened.account : null);
  return account === null && opened.via === 'code' ? (
    <TypedWords confirm={(typed) => setAccount(opened.confirm(typed))} end={end} />
  ) : (
    account !== null && (
      <OwnAccount
        account={account}
        token={token}
        accept={() => accept(account, token)}
        end={() => end(null)}
      />
    )
  );
}

interface TypedWordsProps {
  readonly confirm: (typed: string) => void;
  readonly end: (notice: Notice | null) => void;
}

function TypedWords({ confirm, end }: TypedWordsProps) {
  const submit = submitting((values) => {
    try {
      confirm(textOf(values, 'words'));
    } catch (error) {
      // There is one try: a server could otherwise have its own words guessed.
      end(failure(error));
    }
  });
  return (
    <form onSubmit={submit}>
      <p>{t.code.words}</p>
      <TextField
        id="words"
        name="words"
        label={t.code.wordsLabel}
        hint={t.code.wordsHint}
        isExact
        required
      />
      <FormButtons close={() => end(null)} submit={t.code.wordsSubmit} />
    </form>
  );
}

interface OwnAccountProps {
  readonly account: HandedAccount;
  readonly token: string;
  readonly accept: () => Promise<void>;
  readonly end: () => void;
}

function OwnAccount({ account, token, accept, end }: OwnAccountProps) {
  const { notice, isBusy, run } = useNotedAction();
  const [names, showNames] = useState<readonly string[]>([]);
  useEffect(() => {
    run(async () => {
      const { identities } = await clientFor(token).profile();
      showNames(identities.map(({ login, provider }) => `${login ?? '…'} (${provider})`));
    });
  }, []);
  const { accountId, key, encryptionMode } = account;
  const { overview } = t;
  return (
    <>
      <h2>{t.code.own}</h2>
      <dl>
        <dt>{overview.id}</dt>
        <dd class="code">{accountId}</dd>
        <dt>{overview.signIn}</dt>
        <dd>{[...names, key === null ? overview.keyless : overview.keyed].join(', ')}</dd>
        <dt>{overview.content}</dt>
        <dd>{encryptionMode === 'e2ee' ? overview.e2ee : overview.plain}</dd>
      </dl>
      <p>{t.code.ownHint}</p>
      <NoticeLine notice={notice} />
      <FormButtons
        cancel={t.code.notOwn}
        close={end}
        submit={t.code.isOwn}
        confirm={() => run(accept)}
        isDisabled={isBusy}
      />
    </>
  );
}
