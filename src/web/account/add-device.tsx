import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AccountProfile, WaitingDevice } from '../../client/api/api-client-answers.js';
import { approveWithKey } from '../../client/api/device-approval.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { deviceCheckWords } from '../../client/crypto/device-check-words.js';
import { readUserCode, showUserCode } from '../../policy/flow/user-code.js';
import { clientFor } from '../server.js';
import { done, Loading, NoticeLine, problem, useAction, type Notice } from '../ui/notice.js';
import { formatDate } from '../words/format.js';
import { words } from '../words/words.js';
import { Scanner } from './scanner.js';
import { KeyForm } from './key-forms.js';
import { UNKNOWN_DEVICE, type PendingDevice, type Session } from './tab-state.js';
import type { AccountActions } from './use-account.js';

export interface AddDeviceProps extends Omit<AccountActions, 'reload'> {
  readonly device: PendingDevice;
  /** Shows another device, or none. */
  readonly setDevice: (device: PendingDevice | null) => void;
  readonly startSession: (session: Session, notice: Notice) => void;
}

/** Adds a new device to the account, found by its link, its QR code or a typed code. */
export function AddDevice(props: AddDeviceProps) {
  const { device, setDevice, notify } = props;
  const cancel = () => {
    notify(null);
    setDevice(null);
  };
  return (
    <section aria-labelledby="add-device">
      <h2 id="add-device">{words.add.title}</h2>
      {device.userCode === null ? (
        <CodeForm {...props} />
      ) : (
        <FindDevice key={device.userCode} userCode={device.userCode} {...props} />
      )}
      <div class="row">
        <button type="button" class="link" onClick={cancel}>
          {words.cancel}
        </button>
      </div>
    </section>
  );
}

function CodeForm({ setDevice, notify }: AddDeviceProps) {
  const [notice, show] = useState<Notice | null>(null);
  const found = (device: PendingDevice) => {
    notify(null);
    setDevice(device);
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('code');
    const code = readUserCode(typeof typed === 'string' ? typed.trim() : '');
    if (code === null) {
      show(problem(words.add.form));
    } else {
      found({ userCode: showUserCode(code), publicKey: null });
    }
  };
  return (
    <>
      <p>{words.add.lead}</p>
      <Scanner found={found} />
      <form onSubmit={submit}>
        <CodeInput isInvalid={notice !== null} />
        <NoticeLine notice={notice} />
        <button type="submit" class="primary">
          {words.add.submit}
        </button>
      </form>
    </>
  );
}

function CodeInput({ isInvalid }: { readonly isInvalid: boolean }) {
  return (
    <div class="field">
      <label for="code">{words.add.label}</label>
      <input
        id="code"
        name="code"
        class="big"
        placeholder="WDJB-MJHT"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-invalid={isInvalid}
        required
      />
    </div>
  );
}

interface FoundDevice {
  readonly waiting: WaitingDevice;
  readonly keyMode: AccountProfile['keyMode'];
}

function FindDevice({ userCode, ...props }: AddDeviceProps & { readonly userCode: string }) {
  const { device, setDevice, session, endSession, notify } = props;
  const [found, setFound] = useState<FoundDevice | null>(null);
  const { run } = useAction(notify, endSession);
  const find = async () => {
    const client = clientFor(session.token);
    const { keyMode } = await client.profile();
    const waiting = await client.devices.find(userCode);
    if (device.publicKey === null || device.publicKey === waiting.publicKey) {
      setFound({ waiting, keyMode });
    } else {
      setDevice(null);
      notify(problem(words.add.otherKey));
    }
  };
  const load = () => run(() => find().catch((error: unknown) => askAgain(error, props)));
  useEffect(load, []);
  return found === null ? (
    <Loading retry={load} notify={notify} />
  ) : (
    <Approval userCode={userCode} found={found} {...props} />
  );
}

/** Asks for another code where this one is unknown, expired or used; throws any other error. */
function askAgain(error: unknown, { setDevice, notify }: AddDeviceProps): void {
  const code = error instanceof GatehouseProblem ? error.code : '';
  if (code !== 'not-found' && code !== 'already-answered') {
    throw error;
  }
  setDevice(UNKNOWN_DEVICE);
  notify(problem(words.add.noneWaits));
}

interface ApprovalProps extends AddDeviceProps {
  readonly userCode: string;
  readonly found: FoundDevice;
}

/** Shows the device, and asks for consent: a stranger may have sent the code or the link. */
function Approval({ userCode, found, ...props }: ApprovalProps) {
  const { device, session, setDevice, notify } = props;
  const { waiting, keyMode } = found;
  const client = clientFor(session.token);
  const refuse = async () => {
    await client.devices.refuse(waiting.id);
    setDevice(null);
    notify(done(words.add.refused));
  };
  const approve = async (key: DeviceKey | null) => {
    if (key === null) {
      await client.devices.approve(waiting.id);
      notify(done(words.add.added));
    } else {
      await approveAndRenew(waiting, key, props);
    }
    setDevice(null);
  };
  return (
    <>
      <DeviceFacts userCode={userCode} waiting={waiting} accountId={session.accountId} />
      <Consent
        isLink={device.publicKey !== null}
        isKeyed={keyMode === 'keyed'}
        approve={(key) => approve(key).catch((error: unknown) => askAgain(error, props))}
        refuse={() => refuse().catch((error: unknown) => askAgain(error, props))}
        {...props}
      />
    </>
  );
}

/** Approves with a new session, which this tab continues with. */
async function approveAndRenew(
  waiting: WaitingDevice,
  key: DeviceKey,
  { session, startSession }: AddDeviceProps,
): Promise<void> {
  const { token, accountId } = session;
  const client = clientFor(token);
  startSession(await approveWithKey(client, waiting, { accountId, key }), done(words.add.added));
  // The replaced session: it would expire by itself.
  await client.logOut().catch(() => undefined);
}

interface DeviceFactsProps {
  readonly userCode: string;
  readonly waiting: WaitingDevice;
  readonly accountId: string;
}

function DeviceFacts({ userCode, waiting, accountId }: DeviceFactsProps) {
  const { client, address, createdAt, publicKey } = waiting;
  return (
    <>
      <dl>
        <dt>{words.add.device}</dt>
        <dd>{[client.name ?? words.add.unnamed, client.platform].filter(Boolean).join(', ')}</dd>
        <dt>{words.add.address}</dt>
        <dd class="code">{address}</dd>
        <dt>{words.add.asked}</dt>
        <dd>{formatDate(createdAt)}</dd>
        <dt>{words.add.code}</dt>
        <dd class="code">{userCode}</dd>
        <dt>{words.overview.id}</dt>
        <dd class="code">{accountId}</dd>
      </dl>
      <div class="lead">
        <p>{words.add.check}</p>
        <p class="words">{deviceCheckWords(publicKey).join(' ')}</p>
      </div>
    </>
  );
}

interface ConsentProps extends Pick<AccountActions, 'endSession'> {
  readonly isLink: boolean;
  readonly isKeyed: boolean;
  /** @param key null for accounts without one */
  readonly approve: (key: DeviceKey | null) => Promise<void>;
  readonly refuse: () => Promise<void>;
}

function Consent({ isLink, isKeyed, approve, refuse, endSession }: ConsentProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  const check = (
    <label class="check">
      <input type="checkbox" required /> {isLink ? words.add.mine : words.add.same}
    </label>
  );
  return (
    <>
      <p>{isKeyed ? words.add.consentKeyed : words.add.consent}</p>
      {isKeyed ? (
        <KeyForm use={approve} endSession={endSession} label={words.add.approve}>
          {check}
        </KeyForm>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run(() => approve(null));
          }}
        >
          {check}
          <button type="submit" class="primary" disabled={isBusy}>
            {words.add.approve}
          </button>
        </form>
      )}
      <NoticeLine notice={notice} />
      <button type="button" class="link danger" disabled={isBusy} onClick={() => run(refuse)}>
        {words.add.refuse}
      </button>
    </>
  );
}
