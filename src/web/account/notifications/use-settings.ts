import { useCallback, useEffect, useState } from 'preact/hooks';
import {
  changeSettings,
  openSettings,
  SettingsUnreadable,
  type SettingsFields,
} from '../../../client/api/account-settings.js';
import { requireOwnKey } from '../../../client/api/own-key.js';
import type { AccountContent } from '../../../client/crypto/account-content.js';
import type { DeviceKey } from '../../../client/crypto/device-key.js';
import { clientFor } from '../../server.js';
import { failure } from '../../ui/notice.js';
import { requiresSignIn } from '../../i18n/failure.js';
import type { Account, AccountActions } from '../use-account.js';
import { rememberedKey } from '../key-memory.js';

export interface SettingsAccess {
  /** null while they are loading or locked. */
  readonly fields: SettingsFields | null;
  /** True if the device key is required first. */
  readonly isLocked: boolean;
  /** Opens and seals the settings; null where they are not end-to-end encrypted. */
  readonly content: AccountContent | null;
  /** Rejects with OtherAccountKey and SettingsUnreadable. */
  readonly open: (key: DeviceKey, isEntered: boolean) => Promise<void>;
  /** Writes a change; after a concurrent one, applies it to the new settings. */
  readonly change: (change: (fields: SettingsFields) => SettingsFields) => Promise<void>;
  readonly reload: () => void;
}

export function useSettings(account: Account, actions: AccountActions): SettingsAccess {
  const { session, notify, endSession, noteKey } = actions;
  const { token } = session;
  const { id, encryptionMode } = account.profile;
  const [known, setKnown] = useState(() => rememberedKey(id));
  const [content, setContent] = useState<AccountContent | null>(null);
  const [fields, setFields] = useState<SettingsFields | null>(null);
  const isLocked = encryptionMode === 'e2ee' && content === null;
  const reload = useCallback(() => {
    if (isLocked) {
      return;
    }
    read(token, content).then(setFields, (error: unknown) =>
      (requiresSignIn(error) ? endSession : notify)(failure(error)),
    );
  }, [token, content, isLocked]);
  useEffect(reload, [account, reload]);
  const openWith = async (key: DeviceKey) => {
    const { AccountContent } = await import('../../../client/crypto/account-content.js');
    const opened = new AccountContent(key.bytes, id);
    setFields(await readFirst(token, key, opened, account));
    setContent(opened);
  };
  useEffect(() => {
    if (isLocked && known !== null) {
      openWith(known).catch((error: unknown) => {
        setKnown(null);
        (requiresSignIn(error) ? endSession : notify)(failure(error));
      });
    }
  }, [isLocked, known]);
  const open = async (key: DeviceKey, isEntered: boolean) => {
    await openWith(key);
    noteKey(key, isEntered);
  };
  const change: SettingsAccess['change'] = async (how) => {
    setFields(await changeSettings(clientFor(token), content, how));
  };
  return { fields, isLocked: isLocked && known === null, content, open, change, reload };
}

async function read(token: string, content: AccountContent | null): Promise<SettingsFields> {
  const stored = await clientFor(token).settings.read();
  return openSettings(stored.content, content ?? undefined);
}

/** A wrong key that writes would make the settings permanently unreadable. */
async function readFirst(
  token: string,
  key: DeviceKey,
  content: AccountContent,
  { profile }: Account,
): Promise<SettingsFields> {
  const stored = await clientFor(token).settings.read();
  if (stored.content === null) {
    await requireOwnKey(clientFor(), key, profile.id);
  }
  try {
    return await openSettings(stored.content, content);
  } catch (error) {
    if (error instanceof SettingsUnreadable) {
      await requireOwnKey(clientFor(), key, profile.id);
    }
    throw error;
  }
}
