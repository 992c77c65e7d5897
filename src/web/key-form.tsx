import type { TargetedSubmitEvent } from 'preact';
import { DeviceKey } from '../client/device-key.js';
import { useAction } from './use-action.js';
import { problem, type Notice } from './words.js';

interface KeyFormProps {
  readonly label: string;
  readonly use: (key: DeviceKey) => Promise<void>;
  readonly tell: (notice: Notice | null) => void;
}

/** Asks for the key of an account, in the way that password managers fill in. */
export function KeyForm({ label, use, tell }: KeyFormProps) {
  const { isBusy, run } = useAction(tell);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const secret = new FormData(event.currentTarget).get('key');
    run(async () => {
      const key = await readKey(typeof secret === 'string' ? secret : '');
      await (key === null ? tell(problem('This is no device key.')) : use(key));
    });
  };
  return (
    <form onSubmit={submit}>
      <AccountName />
      <label for="key">Device key</label>
      <input
        id="key"
        name="key"
        type="password"
        autocomplete="current-password"
        autocapitalize="none"
        spellcheck={false}
        required
      />
      <button type="submit" class="primary" disabled={isBusy}>
        {label}
      </button>
    </form>
  );
}

/** What a password manager files the key under; nobody has to look at it. */
export function AccountName() {
  return <input name="username" autocomplete="username" value="device key" readOnly hidden />;
}

/** The 43 characters, or the JSON that the command-line client keeps. */
async function readKey(text: string): Promise<DeviceKey | null> {
  const [, quoted] = /"d"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  try {
    return await DeviceKey.fromSecret(quoted ?? text.trim());
  } catch (error) {
    if (error instanceof TypeError) {
      return null;
    }
    throw error;
  }
}
