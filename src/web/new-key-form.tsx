import { useEffect, useState } from 'preact/hooks';
import { DeviceKey } from '../client/device-key.js';
import { AccountName } from './key-form.js';
import { useAction, type Action } from './use-action.js';
import { failureInWords, problem, type Notice } from './words.js';

interface NewKeyFormProps {
  readonly use: (key: DeviceKey) => Promise<void>;
  readonly tell: (notice: Notice | null) => void;
}

/** Makes a key, and an account only once somebody says that the key is kept. */
export function NewKeyForm({ use, tell }: NewKeyFormProps) {
  const [key, setKey] = useState<DeviceKey | null>(null);
  const { isBusy, run } = useAction(tell);
  useEffect(() => {
    DeviceKey.generate().then(setKey, (error: unknown) => tell(problem(failureInWords(error))));
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
        This key is the account. Nobody can give it back to you: keep it in a password manager
        before you go on.
      </p>
      <AccountName />
      <label for="new-key">Your new device key</label>
      <KeptKey secret={key.secret} run={run} />
      <label class="check">
        <input type="checkbox" required /> I have kept the key
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Create the account
      </button>
    </form>
  );
}

interface KeptKeyProps {
  readonly secret: string;
  readonly run: Action['run'];
}

/** Hidden until asked for, and of the kind that password managers offer to keep. */
function KeptKey({ secret, run }: KeptKeyProps) {
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
