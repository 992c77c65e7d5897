import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WaitingDevice } from '../../../packages/client/api/api-client-answers.js';
import {
  approveDevice,
  type DeviceApproval,
} from '../../../packages/client/devices/device-approval.js';
import { GatehouseProblem, onRefusal } from '../../../packages/client/api/problem.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { isOlderDeviceLink, readDeviceLink } from '../../../packages/client/devices/device-link.js';
import { findDevice } from '../../../packages/client/devices/device-server.js';
import {
  sealAccount,
  type SealedApproval,
} from '../../../packages/client/devices/device-sealing.js';
import { deviceKeyWords } from '../../../core/protocol/device-words.js';
import { readUserCode, showUserCode } from '../../../core/protocol/user-code.js';
import { shownName } from '../browser-name.js';
import { clientFor, serverUrl } from '../server.js';
import { Button } from '../ui/button.js';
import { Check, submitting, TextField, textOf } from '../ui/fields.js';
import { done, Loading, NoticeLine, problem, type Notice, useNotedAction } from '../ui/notice.js';
import { useReload } from '../ui/use-reload.js';
import { formatDate } from '../i18n/format.js';
import { t } from '../i18n/messages.js';
import { Scanner } from './scanner.js';
import { KeyForm } from './key-forms.js';
import { pinOf } from './account-pins.js';
import { rememberedKey, sessionWithKey } from './key-memory.js';
import { keptKeyOf, UNKNOWN_DEVICE, type PendingDevice, type Session } from './tab-state.js';
import type { AccountActions } from './use-account.js';
import { Section } from '../ui/section.js';

export interface AddDeviceProps extends Omit<AccountActions, 'reload' | 'noteKey'> {
  readonly device: PendingDevice;
  readonly setDevice: (device: PendingDevice | null) => void;
  readonly startSession: (session: Session, notice?: Notice) => void;
}

export function AddDevice(props: AddDeviceProps) {
  const { device, setDevice, notify } = props;
  const [words, showWords] = useState<readonly string[] | null>(null);
  const [unknown, noteUnknown] = useState<string | null>(null);
  const askAgain = (userCode: string) => {
    noteUnknown(userCode);
    setDevice(UNKNOWN_DEVICE);
  };
  const close = () => {
    notify(null);
    setDevice(null);
  };
  if (words !== null) {
    return <ApprovedWords words={words} close={close} />;
  }
  const cancel = <Button class="link" onClick={close} text={t.cancel} />;
  return (
    <Section id="add-device" title={t.add.title}>
      {device.userCode === null ? (
        <>
          <CodeForm unknown={unknown} {...props} />
          {cancel}
        </>
      ) : (
        <FindDevice
          key={device.userCode}
          userCode={device.userCode}
          {...{ ...props, showWords, askAgain, cancel }}
        />
      )}
    </Section>
  );
}

interface ApprovedWordsProps {
  readonly words: readonly string[];
  readonly close: () => void;
}

/** Shown by this device alone: the new one asks for them, so that no server adds it to an account. */
function ApprovedWords({ words, close }: ApprovedWordsProps) {
  return (
    <Section id="add-device" title={t.add.typeWords}>
      <div class="lead" role="status">
        <p>{t.add.typeWordsHint}</p>
        <p class="words">{words.join(' ')}</p>
      </div>
      <Button class="primary" onClick={close} text={t.add.typed} />
    </Section>
  );
}

interface CodeFormProps extends AddDeviceProps {
  /** The last code, with which no device waits; null = none. */
  readonly unknown: string | null;
}

function CodeForm({ unknown, setDevice, notify }: CodeFormProps) {
  const [notice, show] = useState<Notice | null>(() =>
    unknown === null ? null : problem(() => t.add.noneWaits),
  );
  const found = (device: PendingDevice) => {
    notify(null);
    setDevice(device);
  };
  const scan = (text: string) => {
    const link = readDeviceLink(text);
    if (link === null || link.serverUrl !== serverUrl()) {
      return problem(() => (isOlderDeviceLink(text) ? t.add.older : t.add.notOurs));
    }
    found({ userCode: link.userCode, link });
    return null;
  };
  const submit = submitting((values) => {
    const code = readUserCode(textOf(values, 'code'));
    if (code === null) {
      show(problem(() => t.add.form));
    } else {
      found({ userCode: showUserCode(code), link: null });
    }
  });
  return (
    <>
      <p>{t.add.lead}</p>
      <Scanner hint={t.add.scanning} instead={() => t.add.typeCode} read={scan} />
      <p class="divider">{t.signIn.or}</p>
      <form onSubmit={submit}>
        <CodeField given={unknown ?? ''} notice={notice} />
        <Button type="submit" class="primary" text={t.add.submit} />
      </form>
    </>
  );
}

function CodeField({ given, notice }: { readonly given: string; readonly notice: Notice | null }) {
  return (
    <TextField
      id="code"
      name="code"
      label={t.add.label}
      class="big"
      placeholder="WDJB-MJHT"
      defaultValue={given}
      notice={notice}
      isExact
      autocapitalize="characters"
      required
    />
  );
}

/** Refusals where no device waits with the code any more. */
const USED = ['not-found', 'already-answered'];

interface FoundDevice {
  readonly waiting: WaitingDevice;
  readonly isKeyed: boolean;
}

interface FindDeviceProps extends AddDeviceProps {
  readonly userCode: string;
  readonly showWords: (words: readonly string[]) => void;
  /** Asks for another code, as this one is unknown, expired or used. */
  readonly askAgain: (userCode: string) => void;
  /** The button that closes the form. */
  readonly cancel: ComponentChildren;
}

function FindDevice({ userCode, ...props }: FindDeviceProps) {
  const { device, setDevice, session, endSession, notify } = props;
  const again = () => props.askAgain(userCode);
  const [found, setFound] = useState<FoundDevice | null>(null);
  const find = async () => {
    const client = clientFor(session.token);
    const isKeyed = hasHadKey(session) || (await client.profile()).keyMode === 'keyed';
    const waiting = await findDevice(client, userCode);
    if (device.link === null || device.link.publicKey === waiting.publicKey) {
      setFound({ waiting, isKeyed });
    } else {
      setDevice(null);
      notify(problem(() => t.add.otherKey));
    }
  };
  const load = () => find().catch(onRefusal(USED, again));
  const reload = useReload(load, { notify, endSession });
  useEffect(reload, []);
  return found === null ? (
    <>
      <Loading retry={reload} notify={notify} />
      {props.cancel}
    </>
  ) : (
    <Approval userCode={userCode} found={found} {...props} />
  );
}

/** A browser that has had the key of the account hands it over, whatever the server says. */
function hasHadKey({ accountId }: Session): boolean {
  const isHere = rememberedKey(accountId) !== null || keptKeyOf(accountId) !== null;
  return isHere || pinOf(accountId) !== null;
}

interface ApprovalProps extends FindDeviceProps {
  readonly found: FoundDevice;
}

/** Shows the device and asks for consent, because a stranger may have sent the code or the link. */
function Approval({ userCode, found, ...props }: ApprovalProps) {
  const { device, session, setDevice, notify, showWords } = props;
  const { waiting, isKeyed } = found;
  const client = clientFor(session.token);
  const refuse = async () => {
    await client.devices.refuse(waiting.id);
    setDevice(null);
    notify(done(() => t.add.refused));
  };
  const { accountId } = session;
  const isLink = device.link !== null;
  const orAnother = (work: Promise<void>) =>
    work.catch(onRefusal(USED, () => props.askAgain(userCode)));
  const handed = useRef<Handed>({ approval: null, isAnswerLost: false });
  const approve = async (entered: EnteredKey | null) => {
    const words = await approveWith(entered, waiting, handed.current, props);
    if (words === null) {
      const { isAnswerLost } = handed.current;
      notify(done(() => (isAnswerLost ? t.add.maybeAdded : t.add.added)));
      setDevice(null);
    } else {
      showWords(words);
    }
  };
  return (
    <>
      <DeviceFacts {...{ userCode, waiting, accountId, isLink }} />
      <Consent
        {...{ isLink, isKeyed, accountId }}
        needsKey={isKeyed && rememberedKey(accountId) === null}
        approve={(entered) => orAnother(approve(entered))}
        refuse={() => orAnother(refuse())}
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

/** The account that this page has sealed to the device, without a new session. */
interface Handed {
  /** Sent again unchanged: the new device may have it, and ask for its words. */
  approval: SealedApproval | null;
  /** True if the device may be added: then the server has none that waits. */
  isAnswerLost: boolean;
}

/**
 * Approves, with an entered key with a new session, which this tab continues with.
 *
 * @returns the words to show
 */
async function approveWith(
  entered: EnteredKey | null,
  waiting: WaitingDevice,
  handed: Handed,
  { device: { link }, session, startSession }: AddDeviceProps,
): Promise<DeviceApproval['words']> {
  const { token, accountId } = session;
  const client = clientFor(token);
  const pin = pinOf(accountId);
  if (entered === null) {
    // The server requires a recent login here, so that an unattended tab adds no device.
    const key = rememberedKey(accountId);
    const encryptionMode = key === null ? 'plain' : (pin?.mode ?? 'e2ee');
    const account = { accountId, key, encryptionMode, settings: pin?.settings ?? null } as const;
    handed.approval ??= await sealAccount(waiting, account, link?.linkSecret ?? null);
    const { sealed, words } = handed.approval;
    try {
      await client.devices.approve(waiting.id, sealed);
      handed.isAnswerLost = false;
    } catch (error) {
      const refused = error instanceof GatehouseProblem ? error : null;
      if (!handed.isAnswerLost || refused === null || !USED.includes(refused.code)) {
        handed.isAnswerLost ||= refused === null || refused.status >= 500;
        throw error;
      }
    }
    return words;
  }
  const { key } = entered;
  const { login, words } = await approveDevice(client, waiting, { accountId, key, pin }, link);
  if (login !== null) {
    startSession(sessionWithKey(login, key, entered.isTyped || session.isKeyEntered));
  }
  return words;
}

interface DeviceFactsProps {
  readonly userCode: string;
  readonly waiting: WaitingDevice;
  readonly accountId: string;
  readonly isLink: boolean;
}

function DeviceFacts({ userCode, waiting, accountId, isLink }: DeviceFactsProps) {
  const { client, address, createdAt } = waiting;
  const name = client.name === null ? t.add.unnamed : shownName(client.name);
  return (
    <>
      <dl>
        <dt>{t.add.device}</dt>
        <dd>{[name, client.platform !== 'web' && client.platform].filter(Boolean).join(', ')}</dd>
        <dt>{t.add.address}</dt>
        <dd class="code">{address}</dd>
        <dt>{t.add.asked}</dt>
        <dd>{formatDate(createdAt)}</dd>
        <dt>{t.add.code}</dt>
        <dd class="code">{userCode}</dd>
        <dt>{t.overview.id}</dt>
        <dd class="code">{accountId}</dd>
      </dl>
      {!isLink && (
        <div class="lead">
          <p>{t.add.check}</p>
          <p class="words">{deviceKeyWords(waiting).join(' ')}</p>
        </div>
      )}
    </>
  );
}

interface ConsentProps extends Pick<AccountActions, 'endSession'>, Pick<FindDeviceProps, 'cancel'> {
  readonly isLink: boolean;
  readonly isKeyed: boolean;
  readonly needsKey: boolean;
  readonly accountId: string;
  /** @param entered null where no key is asked for */
  readonly approve: (entered: EnteredKey | null) => Promise<void>;
  readonly refuse: () => Promise<void>;
}

function Consent({ isLink, isKeyed, needsKey, accountId, ...acts }: ConsentProps) {
  const { approve, refuse, endSession, cancel } = acts;
  const { notice, isBusy, run } = useNotedAction(endSession);
  const check = <Check label={isLink ? t.add.mine : t.add.same} required />;
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
        <form onSubmit={submitting(() => run(() => approve(null)))}>
          {check}
          <Button type="submit" class="primary" disabled={isBusy} text={t.add.approve} />
        </form>
      )}
      <NoticeLine notice={notice} />
      <div class="row">
        <Button
          class="link danger"
          disabled={isBusy}
          onClick={() => run(refuse)}
          text={t.add.refuse}
        />
        {cancel}
      </div>
    </>
  );
}
