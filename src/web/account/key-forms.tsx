import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GatehouseProblem } from '../../client/api/problem.js';
import { DeviceKey } from '../../client/crypto/device-key.js';
import { failure, problem, useAction, type Action, type Notify } from '../ui/notice.js';

interface KeyFormProps {
  readonly use: (key: DeviceKey) => Promise<void>;
  readonly notify: Notify;
}

interface ExistingKeyFormProps extends KeyFormProps {
  /** Of the button. Default: Sign in. */
  readonly label?: string;
  /** Fields before the button. */
  readonly children?: ComponentChildren;
}

/**
 * Asks for the key of an account, with the field names that password managers fill in. Reports a key
 * that has no account: only {@link NewKeyForm} creates one.
 */
export function KeyForm({ use, notify, label = 'Sign in', children }: ExistingKeyFormProps) {
  const { isBusy, run } = useAction(notify);
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
        notify(problem('This key has no account on this server.'));
      }
    });
  };
  return (
    <form onSubmit={submit}>
      <AccountName />
      <KeyInput id="key" label="Device key" />
      {children}
      <button type="submit" class="primary" disabled={isBusy}>
        {label}
      </button>
    </form>
  );
}

/** Makes a key, and an account only after its owner confirms that the key is saved. */
export function NewKeyForm({ use, notify }: KeyFormProps) {
  const [key, setKey] = useState<DeviceKey | null>(null);
  const { isBusy, run } = useAction(notify);
  useEffect(() => {
    DeviceKey.generate().then(setKey, (error: unknown) => notify(failure(error)));
  }, []);
  if (key === null) {
    return null;
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run(() => use(key));
      }}
    >
      <p>
        This key is the only way to sign in to the account, and it cannot be recovered. Save it in a
        password manager before you continue.
      </p>
      <AccountName />
      <label for="new-key">Your new device key</label>
      <NewKey secret={key.secret} run={run} />
      <label class="check">
        <input type="checkbox" required /> I saved the key
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Create the account
      </button>
    </form>
  );
}

/** Hidden until asked for, in a field that password managers offer to save. */
function NewKey({ secret, run }: { secret: string; run: Action['run'] }) {
  const [isShown, setShown] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <div class="row">
      <input
        id="new-key"
        class="code"
        type="password"
        autocomplete="new-password"
        value={secret}
        readOnly
      />
      <button type="button" onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </button>
      <button type="button" onClick={() => run(copy)}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      {isShown && <output class="code">{secret}</output>}
    </div>
  );
}

/** A field for a device key, which password managers fill in. */
export function KeyInput({ id, label }: { id: string; label: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={id}
        type="password"
        autocomplete="current-password"
        autocapitalize="none"
        spellcheck={false}
        required
      />
    </>
  );
}

/** The user name under which a password manager saves the key. */
function AccountName() {
  return <input name="username" autocomplete="username" value="device key" readOnly hidden />;
}

/** @param text the key, in either form, or the JSON file of the command-line client */
export function readKey(text: string): Promise<DeviceKey> {
  const [, quoted] = /"d"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return DeviceKey.fromSecret(quoted ?? text.trim());
}
