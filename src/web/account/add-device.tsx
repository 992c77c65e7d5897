import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AccountProfile, WaitingDevice } from '../../client/api/api-client-answers.js';
import { approveWithKey } from '../../client/api/device-approval.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { sealForDevice } from '../../client/crypto/device-sealing.js';
import { readDeviceLink } from '../../client/crypto/device-link.js';
import { deviceCheckWords } from '../../protocol/device-check-words.js';
import { readUserCode, showUserCode } from '../../protocol/user-code.js';
import { shownName } from '../browser-name.js';
import { clientFor, serverUrl } from '../server.js';
import {
  done,
  Loading,
  NoticeLine,
  problem,
  useAction,
  type Notice,
  useNotedAction,
} from '../ui/notice.js';
import { formatDate } from '../i18n/format.js';
import { t } from '../i18n/messages.js';
import { Scanner } from './scanner.js';
import { KeyForm } from './key-forms.js';
import { rememberedKey, sessionWithKey } from './key-memory.js';
import { noteReplaced, UNKNOWN_DEVICE, type PendingDevice, type Session } from './tab-state.js';
import type { AccountActions } from './use-account.js';

export interface AddDeviceProps extends Omit<AccountActions, 'reload' | 'noteKey'> {
  readonly device: PendingDevice;
  readonly setDevice: (device: PendingDevice | null) => void;
  readonly startSession: (session: Session, notice?: Notice) => void;
}

export function AddDevice(props: AddDeviceProps) {
  const { device, setDevice, notify } = props;
  const cancel = () => {
    notify(null);
    setDevice(null);
  };
  return (
    <section aria-labelledby="add-device">
      <h2 id="add-device">{t.add.title}</h2>
      {device.userCode === null ? (
        <CodeForm {...props} />
      ) : (
        <FindDevice key={device.userCode} userCode={device.userCode} {...props} />
      )}
      <div class="row">
        <button type="button" class="link" onClick={cancel}>
          {t.cancel}
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
  const scan = (text: string) => {
    const link = readDeviceLink(text);
    if (link === null || link.serverUrl !== serverUrl()) {
      return problem(() => t.add.notOurs);
    }
    found({ userCode: link.userCode, publicKey: link.publicKey });
    return null;
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('code');
    const code = readUserCode(typeof typed === 'string' ? typed.trim() : '');
    if (code === null) {
      show(problem(() => t.add.form));
    } else {
      found({ userCode: showUserCode(code), publicKey: null });
    }
  };
  return (
    <>
      <p>{t.add.lead}</p>
      <Scanner hint={t.add.scanning} instead={() => t.add.typeCode} read={scan} />
      <p class="divider">{t.signIn.or}</p>
      <form onSubmit={submit}>
        <CodeInput notice={notice} />
        <button type="submit" class="primary">
          {t.add.submit}
        </button>
      </form>
    </>
  );
}

function CodeInput({ notice }: { readonly notice: Notice | null }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => void (notice !== null && field.current?.focus()), [notice]);
  return (
    <div class="field">
      <label for="code">{t.add.label}</label>
      <input
        ref={field}
        id="code"
        name="code"
        class="big"
        placeholder="WDJB-MJHT"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-invalid={notice !== null}
        aria-describedby="code-problem"
        required
      />
      <NoticeLine id="code-problem" notice={notice} />
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
      notify(problem(() => t.add.otherKey));
    }
  };
  const load = () => run(() => find().catch((error: unknown) => requestAnotherCode(error, props)));
  useEffect(load, []);
  return found === null ? (
    <Loading retry={load} notify={notify} />
  ) : (
    <Approval userCode={userCode} found={found} {...props} />
  );
}

/** Requests another code if this one is unknown, expired or used. */
function requestAnotherCode(error: unknown, { setDevice, notify }: AddDeviceProps): void {
  const code = error instanceof GatehouseProblem ? error.code : '';
  if (code !== 'not-found' && code !== 'already-answered') {
    throw error;
  }
  setDevice(UNKNOWN_DEVICE);
  notify(problem(() => t.add.noneWaits));
}

interface ApprovalProps extends AddDeviceProps {
  readonly userCode: string;
  readonly found: FoundDevice;
}

/** Shows the device and asks for consent, because a stranger may have sent the code or the link. */
function Approval({ userCode, found, ...props }: ApprovalProps) {
  const { device, session, setDevice, notify } = props;
  const { waiting, keyMode } = found;
  const client = clientFor(session.token);
  const refuse = async () => {
    await client.devices.refuse(waiting.id);
    setDevice(null);
    notify(done(() => t.add.refused));
  };
  const known = rememberedKey(session.accountId);
  const approve = async (entered: EnteredKey | null) => {
    if (entered === null) {
      // The server requires a recent login here, so that an unattended tab adds no device.
      const sealed =
        known === null ? undefined : await sealForDevice(waiting.publicKey, known.bytes);
      await client.devices.approve(waiting.id, sealed);
      notify(done(() => t.add.added));
    } else {
      await approveAndRenew(waiting, entered, props);
    }
    setDevice(null);
  };
  return (
    <>
      <DeviceFacts userCode={userCode} waiting={waiting} accountId={session.accountId} />
      <Consent
        isLink={device.publicKey !== null}
        isKeyed={keyMode === 'keyed'}
        needsKey={keyMode === 'keyed' && known === null}
        accountId={session.accountId}
        approve={(entered) =>
          approve(entered).catch((error: unknown) => requestAnotherCode(error, props))
        }
        refuse={() => refuse().catch((error: unknown) => requestAnotherCode(error, props))}
        {...props}
      />
    </>
  );
}

interface EnteredKey {
  readonly key: DeviceKey;
  /** False if a passkey opened it. */
  readonly isTyped: boolean;
}

/** Approves with a new session, which this tab continues with. */
async function approveAndRenew(
  waiting: WaitingDevice,
  { key, isTyped }: EnteredKey,
  { session, startSession }: AddDeviceProps,
): Promise<void> {
  const { token, accountId } = session;
  const login = await approveWithKey(clientFor(token), waiting, { accountId, key });
  noteReplaced(session);
  const isKeyEntered = isTyped || session.isKeyEntered;
  startSession(
    sessionWithKey(login, key, isKeyEntered),
    done(() => t.add.added),
  );
}

interface DeviceFactsProps {
  readonly userCode: string;
  readonly waiting: WaitingDevice;
  readonly accountId: string;
}

function DeviceFacts({ userCode, waiting, accountId }: DeviceFactsProps) {
  const { client, address, createdAt, publicKey } = waiting;
  const name = client.name === null ? t.add.unnamed : shownName(client.name);
  return (
    <>
      <dl>
        <dt>{t.add.device}</dt>
        <dd>{[name, client.platform].filter(Boolean).join(', ')}</dd>
        <dt>{t.add.address}</dt>
        <dd class="code">{address}</dd>
        <dt>{t.add.asked}</dt>
        <dd>{formatDate(createdAt)}</dd>
        <dt>{t.add.code}</dt>
        <dd class="code">{userCode}</dd>
        <dt>{t.overview.id}</dt>
        <dd class="code">{accountId}</dd>
      </dl>
      <div class="lead">
        <p>{t.add.check}</p>
        <p class="words">{deviceCheckWords(publicKey).join(' ')}</p>
      </div>
    </>
  );
}

interface ConsentProps extends Pick<AccountActions, 'endSession'> {
  readonly isLink: boolean;
  readonly isKeyed: boolean;
  readonly needsKey: boolean;
  readonly accountId: string;
  /** @param entered null where no key is asked for */
  readonly approve: (entered: EnteredKey | null) => Promise<void>;
  readonly refuse: () => Promise<void>;
}

function Consent({ isLink, isKeyed, needsKey, accountId, ...acts }: ConsentProps) {
  const { approve, refuse, endSession } = acts;
  const { notice, isBusy, run } = useNotedAction(endSession);
  const check = <RequiredCheck label={isLink ? t.add.mine : t.add.same} />;
  return (
    <>
      <p>{isKeyed ? t.add.consentKeyed : t.add.consent}</p>
      {needsKey ? (
        <KeyForm
          use={(key, isTyped) => approve({ key, isTyped })}
          keptFor={accountId}
          endSession={endSession}
          label={t.add.approve}
        >
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
            {t.add.approve}
          </button>
        </form>
      )}
      <NoticeLine notice={notice} />
      <button type="button" class="link danger" disabled={isBusy} onClick={() => run(refuse)}>
        {t.add.refuse}
      </button>
    </>
  );
}

function RequiredCheck({ label }: { readonly label: string }) {
  return (
    <label class="check">
      <input type="checkbox" required /> {label}
    </label>
  );
}
