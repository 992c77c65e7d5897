import { useCallback, useEffect, useState } from 'preact/hooks';
import {
  changeSettings,
  openSettings,
  SettingsUnreadable,
  type SettingsFields,
} from '../../../client/api/account-settings.js';
import type { AccountContent } from '../../../client/crypto/account-content.js';
import type { DeviceKey } from '../../../client/crypto/device-key.js';
import { clientFor } from '../../server.js';
import { failure } from '../../ui/notice.js';
import { requiresSignIn } from '../../words/failure.js';
import { requireOwnKey } from '../own-key.js';
import type { Account, AccountActions } from '../use-account.js';
import { keepOpened, openedFor } from './opened-content.js';

/** The settings as this page holds them. */
export interface SettingsAccess {
  /** null while they are read, and while they are locked. */
  readonly fields: SettingsFields | null;
  /** Whether the device key is needed first. */
  readonly isLocked: boolean;
  /** Opens and seals them; null where they are not end-to-end encrypted. */
  readonly content: AccountContent | null;
  /** Opens them with the device key. Rejects with OtherAccountKey and SettingsUnreadable. */
  readonly open: (key: DeviceKey) => Promise<void>;
  /** Writes a change; after a concurrent one, once more on top of that. */
  readonly change: (change: (fields: SettingsFields) => SettingsFields) => Promise<void>;
  readonly reload: () => void;
}

/** The account's settings, read again whenever the account is. */
export function useSettings(account: Account, actions: AccountActions): SettingsAccess {
  const { session, notify, endSession } = actions;
  const { token } = session;
  const isEncrypted = account.profile.encryptionMode === 'e2ee';
  const [content, setContent] = useState(() => (isEncrypted ? openedFor(token) : null));
  const [fields, setFields] = useState<SettingsFields | null>(null);
  const isLocked = isEncrypted && content === null;
  const reload = useCallback(() => {
    if (isLocked) {
      return;
    }
    read(token, content).then(setFields, (error: unknown) =>
      (requiresSignIn(error) ? endSession : notify)(failure(error)),
    );
  }, [token, content, isLocked]);
  useEffect(reload, [account, reload]);
  const open = async (key: DeviceKey) => {
    const { AccountContent } = await import('../../../client/crypto/account-content.js');
    const opened = new AccountContent(key.bytes, account.profile.id);
    setFields(await readFirst(token, key, opened, account));
    setContent(opened);
    keepOpened(token, opened);
  };
  const change: SettingsAccess['change'] = async (how) => {
    setFields(await changeSettings(clientFor(token), content, how));
  };
  return { fields, isLocked, content, open, change, reload };
}

async function read(token: string, content: AccountContent | null): Promise<SettingsFields> {
  const stored = await clientFor(token).settings.read();
  return openSettings(stored.content, content ?? undefined);
}

/** Another key would seal the settings for good; where it does not open them, it says so. */
async function readFirst(
  token: string,
  key: DeviceKey,
  content: AccountContent,
  { profile }: Account,
): Promise<SettingsFields> {
  const stored = await clientFor(token).settings.read();
  if (stored.content === null) {
    await requireOwnKey(key, profile.id);
  }
  try {
    return await openSettings(stored.content, content);
  } catch (error) {
    if (error instanceof SettingsUnreadable) {
      await requireOwnKey(key, profile.id);
    }
    throw error;
  }
}
