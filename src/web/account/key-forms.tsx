import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GatehouseProblem, ServerUnreachable } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { serverUrl } from '../server.js';
import { failure, NoticeLine, problem, useAction, type Notice } from '../ui/notice.js';
import { words } from '../words/words.js';
import { KeyView } from './key-view.js';

interface KeyFormProps {
  readonly use: (key: DeviceKey) => Promise<void>;
  /** Receives a failure after which only signing in again helps. Default: it stays in the form. */
  readonly endSession?: ((notice: Notice) => void) | undefined;
}

interface ExistingKeyFormProps extends KeyFormProps {
  /** Of the button. Default: Sign in. */
  readonly label?: string;
  /** Whether another act of the page stands out instead. */
  readonly isSecondary?: boolean;
  /** Fields before the button. */
  readonly children?: ComponentChildren;
}

/**
 * Asks for the key of an account, with the field names that password managers fill in. Reports a key
 * that has no account: only {@link NewKeyForm} creates one.
 */
export function KeyForm(props: ExistingKeyFormProps) {
  const { use, endSession, label, isSecondary = false, children } = props;
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  usePreloadedKeys();
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const secret = new FormData(event.currentTarget).get('key');
    run(async () => {
      try {
        await use(await readKey(typeof secret === 'string' ? secret : ''));
      } catch (error) {
        if (!(error instanceof GatehouseProblem) || error.code !== 'not-found') {
          throw error;
        }
        show(problem(words.signIn.noAccount));
      }
    });
  };
  return (
    <form onSubmit={submit}>
      <AccountName />
      <KeyInput id="key" label={words.signIn.keyLabel} isInvalid={notice !== null} />
      {children}
      <NoticeLine notice={notice} />
      <button type="submit" class={isSecondary ? '' : 'primary'} disabled={isBusy}>
        {label ?? words.signIn.keySubmit}
      </button>
    </form>
  );
}

interface NewKeyFormProps extends Omit<KeyFormProps, 'use'> {
  /** @param invitation as it was typed; null where the form does not ask for one */
  readonly use: (key: DeviceKey, invitation: string | null) => Promise<void>;
  readonly needsInvitation?: boolean;
  /** Of the link that was opened. */
  readonly givenInvitation?: string;
}

/** Makes a key, and an account only after its owner confirms that the key is saved. */
export function NewKeyForm(props: NewKeyFormProps) {
  const { use, endSession, needsInvitation = false, givenInvitation = '' } = props;
  const [key, setKey] = useState<DeviceKey | null>(null);
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  useEffect(() => {
    generateKey().then(setKey, (error: unknown) => show(failure(error)));
  }, []);
  if (key === null) {
    return <NoticeLine notice={notice} />;
  }
  const { newKey } = words;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const invitation = new FormData(event.currentTarget).get('invitation');
        run(() => use(key, typeof invitation === 'string' ? invitation.trim() : null));
      }}
    >
      {needsInvitation && <InvitationInput given={givenInvitation} isInvalid={notice !== null} />}
      <p>{newKey.lead}</p>
      <AccountName />
      <div class="field">
        <label for="new-key">{newKey.label}</label>
        <KeyView id="new-key" secret={key.secret} />
      </div>
      <label class="check">
        <input type="checkbox" required /> {newKey.saved}
      </label>
      <NoticeLine notice={notice} />
      <button type="submit" class="primary" disabled={isBusy}>
        {newKey.submit}
      </button>
    </form>
  );
}

interface KeyInputProps {
  readonly id: string;
  readonly label: string;
  readonly isInvalid?: boolean;
}

/** A field for a device key, which password managers fill in. */
export function KeyInput({ id, label, isInvalid = false }: KeyInputProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={id}
        type="password"
        class="code"
        autocomplete="current-password"
        autocapitalize="none"
        spellcheck={false}
        placeholder="gatekey1…"
        aria-invalid={isInvalid}
        required
      />
    </div>
  );
}

interface InvitationInputProps {
  readonly given: string;
  readonly isInvalid: boolean;
}

function InvitationInput({ given, isInvalid }: InvitationInputProps) {
  const { invitation, invitationHint } = words.newKey;
  return (
    <div class="field">
      <label for="invitation">{invitation}</label>
      <input
        id="invitation"
        name="invitation"
        class="code"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxLength={64}
        defaultValue={given}
        placeholder="XXXX-XXXX-XXXX-XXXX-XXXX"
        aria-describedby="invitation-hint"
        aria-invalid={isInvalid}
        required
      />
      <p id="invitation-hint" class="hint">
        {invitationHint}
      </p>
    </div>
  );
}

/** The user name under which a password manager saves the key. */
function AccountName() {
  return (
    <input name="username" autocomplete="username" value={words.newKey.userName} readOnly hidden />
  );
}

/** @param text the key, in either form, or the JSON file of the command-line client */
export async function readKey(text: string): Promise<DeviceKey> {
  const [, quoted] = /"d"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return (await keys()).fromSecret(quoted ?? text.trim());
}

async function generateKey(): Promise<DeviceKey> {
  return (await keys()).generate();
}

/** In a file of its own: a person who signs in through a provider needs no key. */
async function keys(): Promise<typeof DeviceKey> {
  try {
    return (await import('../../client/crypto/device-key.js')).DeviceKey;
  } catch (error) {
    throw new ServerUnreachable(serverUrl(), 'a file of the page cannot be loaded', {
      cause: error,
    });
  }
}

/** Loads what keys need while the person types. */
function usePreloadedKeys(): void {
  useEffect(() => {
    // The submission reports it.
    keys().catch(() => undefined);
  }, []);
}
