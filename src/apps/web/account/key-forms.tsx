import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type GatehouseProblem, onRefusal } from '../../../packages/client/api/problem.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { loading } from '../server.js';
import { Button } from '../ui/button.js';
import { Check, submitting, TextField, textOf } from '../ui/fields.js';
import { lazyPart } from '../ui/lazy-part.js';
import {
  type Action,
  failure,
  NoticeLine,
  problem,
  type Notice,
  useNotedAction,
} from '../ui/notice.js';
import { useReload } from '../ui/use-reload.js';
import { t } from '../i18n/messages.js';
import { KeyView } from './key-view.js';
import { keptKeyOf } from './tab-state.js';

const Scanner = lazyPart(() => import('./scanner.js'), 'Scanner');

interface KeyFormProps {
  /** @param isEntered false if a passkey opened the key that this browser keeps */
  readonly use: (key: DeviceKey, isEntered: boolean) => Promise<void>;
  /** Receives a failure that only a new sign-in can fix. Default: the form shows it. */
  readonly endSession?: ((notice: Notice) => void) | undefined;
}

interface ExistingKeyFormProps extends KeyFormProps {
  /** Id of the field, because a page may have several. Default: key. */
  readonly id?: string;
  readonly label?: string;
  /** Offers the camera, for a printed key. */
  readonly isScanned?: boolean;
  /** The account whose kept key a passkey may open, in place of typing it. */
  readonly keptFor?: string | undefined;
  /** The label where a passkey opens the key. Default: that of the form. */
  readonly keptLabel?: string;
  /** Creates the account of a typed key that has none; undefined where that is not possible. */
  readonly create?: ((key: DeviceKey) => Promise<void>) | undefined;
  /** Closes the dialog of the form. */
  readonly cancel?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}

/** Refuses a key without an account, unless the person then asks to create it. */
export function KeyForm(props: ExistingKeyFormProps) {
  const { keptFor, children, cancel } = props;
  const { label = t.signIn.keySubmit, keptLabel = label } = props;
  const [isTyping, type] = useState(keptFor === undefined || keptKeyOf(keptFor) === null);
  const { unknown, submit, ...action } = useKeySubmission(props, isTyping);
  const { notice, show, isBusy } = action;
  usePreloadedKeys(!isTyping);
  const typeInstead = () => {
    show(null);
    type(true);
  };
  return (
    <form onSubmit={submit}>
      {isTyping && <TypedKey {...props} notice={notice} />}
      {unknown !== null && <CreateWithKey {...props} {...{ unknown, ...action }} />}
      {!isTyping && <p class="hint">{t.keep.opens}</p>}
      {children}
      {!isTyping && <NoticeLine notice={notice} />}
      <Buttons cancel={cancel}>
        <Button
          type="submit"
          class="primary"
          disabled={isBusy}
          icon={isTyping ? undefined : 'lock'}
          text={isTyping ? label : keptLabel}
        />
      </Buttons>
      {!isTyping && <Button class="link" onClick={typeInstead} text={t.keep.type} />}
    </form>
  );
}

interface ButtonsProps extends Pick<ExistingKeyFormProps, 'cancel'> {
  /** The button that submits the form. */
  readonly children: ComponentChildren;
}

/** In a dialog, the buttons stand at its end. */
function Buttons({ cancel, children }: ButtonsProps) {
  return cancel === undefined ? (
    <>{children}</>
  ) : (
    <div class="row end">
      <Button onClick={cancel} text={t.cancel} />
      {children}
    </div>
  );
}

/** @returns with the key that was refused because it has no account */
function useKeySubmission(props: ExistingKeyFormProps, isTyping: boolean) {
  const { use, endSession, keptFor = '' } = props;
  const action = useNotedAction(endSession);
  const [unknown, setUnknown] = useState<DeviceKey | null>(null);
  const submit = submitting((values) => {
    const read = () => (isTyping ? readKey(textOf(values, 'key')) : openKeptKey(keptFor));
    setUnknown(null);
    action.run(async () => {
      const key = await read();
      const refuse = () => {
        action.show(problem(() => t.signIn.noAccount));
        setUnknown(key);
      };
      await use(key, isTyping).catch(onRefusal(['not-found'], refuse));
    });
  });
  return { unknown, submit, ...action };
}

interface CreateWithKeyProps extends Pick<ExistingKeyFormProps, 'create'>, Action {
  readonly unknown: DeviceKey;
}

/** For a person who saved the key, and left before its account was created. */
function CreateWithKey({ create, unknown, isBusy, run }: CreateWithKeyProps) {
  return create === undefined ? null : (
    <Button disabled={isBusy} onClick={() => run(() => create(unknown))} text={t.newKey.withThis} />
  );
}

interface TypedKeyProps extends Pick<ExistingKeyFormProps, 'id' | 'isScanned'> {
  readonly notice: Notice | null;
}

function TypedKey({ id = 'key', isScanned = false, notice }: TypedKeyProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <AccountName />
      <TextField
        id={id}
        own={field}
        name="key"
        label={t.signIn.keyLabel}
        type="password"
        class="code"
        autocomplete="current-password"
        placeholder="gatekey1…"
        notice={notice}
        isExact
        required
      />
      {isScanned && <KeyScanner field={field} />}
    </>
  );
}

interface NewKeyFormProps extends Omit<KeyFormProps, 'use'> {
  /** @param invitation the text as it was typed; null where the form has no such field */
  readonly use: (key: DeviceKey, invitation: string | null) => Promise<void>;
  readonly needsInvitation?: boolean;
  readonly givenInvitation?: string;
  readonly children?: ComponentChildren;
}

/** Creates a key, and the account only after its owner confirms that the key is saved. */
export function NewKeyForm(props: NewKeyFormProps) {
  const { use, endSession, needsInvitation = false, givenInvitation = '', children } = props;
  const [key, setKey] = useState<DeviceKey | null>(null);
  const [invalid, refuseInvitation] = useState<Notice | null>(null);
  const { notice, show, isBusy, run } = useNotedAction(endSession);
  const reload = useReload(async () => setKey(await (await keys()).generate()), { notify: show });
  useEffect(reload, []);
  if (key === null) {
    return <NoticeLine notice={notice} />;
  }
  const submit = submitting((values) => {
    const invitation = needsInvitation ? textOf(values, 'invitation') : null;
    // Next to its field, in place of the end of the form.
    const refuse = (refused: GatehouseProblem) => refuseInvitation(failure(refused));
    refuseInvitation(null);
    run(() => use(key, invitation).catch(onRefusal(['invitation-invalid'], refuse)));
  });
  const { newKey } = t;
  return (
    <form onSubmit={submit}>
      {needsInvitation && <InvitationField given={givenInvitation} notice={invalid} />}
      <p>{newKey.lead}</p>
      <AccountName />
      <div class="field">
        <label for="new-key">{newKey.label}</label>
        <KeyView id="new-key" secret={key.secret} accountId={null} />
      </div>
      <SavedCheck />
      {children}
      <NoticeLine notice={notice} />
      <Button type="submit" class="primary" disabled={isBusy} text={newKey.submit} />
    </form>
  );
}

/** Until it is checked, the browser asks before the page is left. */
function SavedCheck() {
  const [isSaved, setSaved] = useState(false);
  useLeaveWarning(!isSaved);
  return <Check label={t.newKey.saved} set={setSaved} required />;
}

/** Browsers ask before the page is left, in words of their own, from the moment when the key is shown. */
function useLeaveWarning(isOn: boolean): void {
  useLayoutEffect(() => {
    const warn = (event: Event) => event.preventDefault();
    if (isOn) {
      addEventListener('beforeunload', warn);
    }
    return () => removeEventListener('beforeunload', warn);
  }, [isOn]);
}

/** Fills in the key of a printed sheet. The person submits it. */
function KeyScanner({ field }: { readonly field: RefObject<HTMLInputElement | null> }) {
  const read = (text: string) => {
    if (!/^gatekey1/i.test(text)) {
      return problem(() => t.signIn.keyNotScanned);
    }
    if (field.current !== null) {
      field.current.value = text.toLowerCase();
      field.current.focus();
    }
    return null;
  };
  return (
    <Scanner hint={t.signIn.keyScan} instead={() => t.signIn.keyType} read={read} kind="link" />
  );
}

interface InvitationFieldProps {
  readonly given: string;
  readonly notice: Notice | null;
}

function InvitationField({ given, notice }: InvitationFieldProps) {
  return (
    <TextField
      id="invitation"
      name="invitation"
      label={t.newKey.invitation}
      hint={t.newKey.invitationHint}
      class="code"
      maxLength={64}
      defaultValue={given}
      placeholder="XXXX-XXXX-XXXX-XXXX-XXXX"
      notice={notice}
      isExact
      autocapitalize="characters"
      required
    />
  );
}

/** The user name under which a password manager saves the key. */
function AccountName() {
  return (
    <input name="username" autocomplete="username" value={t.newKey.userName} readOnly hidden />
  );
}

/** @param text the key, in either form, or the JSON file of the command-line client */
export async function readKey(text: string): Promise<DeviceKey> {
  const [, quoted] = /"d"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return (await keys()).fromSecret(quoted ?? text.trim());
}

/** Loaded on demand: a person who signs in through a provider needs no key. */
async function keys(): Promise<typeof DeviceKey> {
  return (await loading(import('../../../packages/client/crypto/device-key.js'))).DeviceKey;
}

/** Asks for the passkey. The key may be forgotten by now, in another tab. */
async function openKeptKey(accountId: string): Promise<DeviceKey> {
  const { openWithPasskey, PasskeyProblem } = await passkeys();
  const kept = keptKeyOf(accountId);
  if (kept === null) {
    throw new PasskeyProblem('damaged');
  }
  return openWithPasskey(kept);
}

function passkeys() {
  return loading(import('./passkey.js'));
}

/** @param withPasskey loads also what opens a kept key: browsers ask only soon after a click */
function usePreloadedKeys(withPasskey: boolean): void {
  useEffect(() => {
    // The submission of the form reports the failure.
    Promise.all([keys(), withPasskey ? passkeys() : null]).catch(() => undefined);
  }, []);
}
