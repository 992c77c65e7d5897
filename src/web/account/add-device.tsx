import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AccountProfile, WaitingDevice } from '../../client/api/api-client-answers.js';
import { approveWithKey } from '../../client/api/device-approval.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { deviceCheckWords } from '../../client/crypto/device-check-words.js';
import { readUserCode, showUserCode } from '../../policy/flow/user-code.js';
import { clientFor } from '../server.js';
import { formatDate } from '../ui/format-date.js';
import { done, Loading, problem, useAction, type Notice } from '../ui/notice.js';
import { KeyForm } from './key-forms.js';
import { UNKNOWN_DEVICE, type PendingDevice, type Session } from './tab-state.js';
import type { AccountActions } from './use-account.js';

export interface AddDeviceProps extends Omit<AccountActions, 'reload'> {
  readonly device: PendingDevice;
  /** Shows another device, or none. */
  readonly setDevice: (device: PendingDevice | null) => void;
  readonly startSession: (session: Session, notice: Notice) => void;
}

/** Adds a new device to the account, found by its link or by a typed code. */
export function AddDevice(props: AddDeviceProps) {
  const { device, setDevice, notify } = props;
  const cancel = () => {
    notify(null);
    setDevice(null);
  };
  return (
    <section aria-labelledby="add-device">
      <h2 id="add-device">Add a device</h2>
      {device.userCode === null ? (
        <CodeForm {...props} />
      ) : (
        <FindDevice key={device.userCode} userCode={device.userCode} {...props} />
      )}
      <button type="button" class="link" onClick={cancel}>
        Cancel
      </button>
    </section>
  );
}

function CodeForm({ setDevice, notify }: AddDeviceProps) {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('code');
    const code = readUserCode(typeof typed === 'string' ? typed.trim() : '');
    if (code === null) {
      notify(problem('A code has eight letters and no vowels, for example WDJB-MJHT.'));
    } else {
      notify(null);
      setDevice({ userCode: showUserCode(code), publicKey: null });
    }
  };
  return (
    <form onSubmit={submit}>
      <label for="code">Code that the new device shows</label>
      <input
        id="code"
        name="code"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        required
      />
      <button type="submit" class="primary">
        Continue
      </button>
    </form>
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
      notify(problem('The server returned another key than that of the link. Do not continue.'));
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
  notify(problem('No device waits with this code. Codes are valid for ten minutes, and once.'));
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
    notify(done('The device was refused.'));
  };
  const approve = async (key: DeviceKey | null) => {
    if (key === null) {
      await client.devices.approve(waiting.id);
      notify(ADDED);
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

const ADDED = done('The device is added. It signs in within a few seconds.');

/** Approves with a new session, which this tab continues with. */
async function approveAndRenew(
  waiting: WaitingDevice,
  key: DeviceKey,
  { session, startSession }: AddDeviceProps,
): Promise<void> {
  const { token, accountId } = session;
  const client = clientFor(token);
  startSession(await approveWithKey(client, waiting, { accountId, key }), ADDED);
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
        <dt>Device</dt>
        <dd>{[client.name ?? 'Without a name', client.platform].filter(Boolean).join(', ')}</dd>
        <dt>Address</dt>
        <dd class="code">{address}</dd>
        <dt>Asked</dt>
        <dd>{formatDate(createdAt)}</dd>
        <dt>Code</dt>
        <dd class="code">{userCode}</dd>
        <dt>Account ID</dt>
        <dd class="code">{accountId}</dd>
      </dl>
      <p>The new device must show these words:</p>
      <p class="words">{deviceCheckWords(publicKey).join(' ')}</p>
    </>
  );
}

interface ConsentProps extends Pick<AccountActions, 'endSession' | 'notify'> {
  readonly isLink: boolean;
  readonly isKeyed: boolean;
  /** @param key null for accounts without one */
  readonly approve: (key: DeviceKey | null) => Promise<void>;
  readonly refuse: () => Promise<void>;
}

function Consent({ isLink, isKeyed, approve, refuse, endSession, notify }: ConsentProps) {
  const { isBusy, run } = useAction(notify, endSession);
  const check = (
    <label class="check">
      <input type="checkbox" required />{' '}
      {isLink
        ? 'I started this myself, and the new device is with me'
        : 'The new device shows the same words'}
    </label>
  );
  return (
    <>
      <p>
        It gets full access to your account{isKeyed && ', with the device key'}. Continue only if
        you started this yourself.
      </p>
      {isKeyed ? (
        <KeyForm use={approve} notify={notify} label="Add the device">
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
            Add the device
          </button>
        </form>
      )}
      <button type="button" class="link danger" disabled={isBusy} onClick={() => run(refuse)}>
        Refuse the device
      </button>
    </>
  );
}
