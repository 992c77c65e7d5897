import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { pinMode } from '../../../../packages/client/settings/account-pin.js';
import {
  acceptSettings,
  changeSettings,
  readSettings,
  SettingsRefused,
  SettingsUnreadable,
  type SettingsAccess,
  type SettingsFields,
  type SettingsRefusal,
} from '../../../../packages/client/settings/account-settings.js';
import { requireOwnKey } from '../../../../packages/client/api/own-key.js';
import type { AccountContent } from '../../../../packages/client/crypto/account-content.js';
import type { DeviceKey } from '../../../../packages/client/crypto/device-key.js';
import { clientFor, loading } from '../../server.js';
import { isOutage, useReload } from '../../ui/use-reload.js';
import { pinOf, pinsOf } from '../account-pins.js';
import type { Account, AccountActions } from '../use-account.js';
import { rememberedKey } from '../key-memory.js';

export interface Settings {
  /** null while they are loading, locked or refused. */
  readonly fields: SettingsFields | null;
  /** True if the device key is required first. */
  readonly isLocked: boolean;
  /** The reason why this browser uses the settings only after the person confirmed them. */
  readonly refusal: SettingsRefusal | null;
  /** Opens and seals the settings. */
  readonly access: SettingsAccess;
  /** Rejects with OtherAccountKey and SettingsUnreadable. */
  readonly open: (key: DeviceKey, isEntered: boolean) => Promise<void>;
  /** Writes a change; after a concurrent one, applies it to the new settings. */
  readonly change: (change: (fields: SettingsFields) => SettingsFields) => Promise<void>;
  /** Returns the settings that {@link confirm} accepts. */
  readonly review: () => Promise<SettingsFields | null>;
  /** Confirms what is refused. */
  readonly confirm: () => Promise<void>;
  readonly reload: () => void;
}

export function useSettings(account: Account, actions: AccountActions): Settings {
  const { session, notify, endSession, noteKey } = actions;
  const { token } = session;
  const { id, encryptionMode } = account.profile;
  const [known, setKnown] = useState(() => rememberedKey(id));
  const { showRead, setContent, ...shown } = useConfirmed(account, token);
  const { access, refusal } = shown;
  const isLocked = encryptionMode === 'e2ee' && access.content === null;
  const openWith = async (key: DeviceKey) => {
    const { AccountContent } = await loading(
      import('../../../../packages/client/crypto/account-content.js'),
    );
    const content = new AccountContent(key.bytes, id);
    await showRead(readFirst(token, key, { ...access, content }, account));
    setContent(content);
  };
  const openKnown = (key: DeviceKey) =>
    openWith(key).catch((error: unknown) => {
      // After an outage, the same key opens the settings.
      if (!isOutage(error)) {
        setKnown(null);
      }
      throw error;
    });
  const load = async () => {
    if (isLocked) {
      await (known === null ? undefined : openKnown(known));
    } else if (refusal === null) {
      await showRead(readSettings(clientFor(token), access));
    }
  };
  const reload = useReload(load, { notify, endSession });
  useEffect(reload, [account, token, access, isLocked, refusal, known]);
  const open = async (key: DeviceKey, isEntered: boolean) => {
    await openWith(key);
    noteKey(key, isEntered);
  };
  return { ...shown, isLocked: isLocked && known === null, open, reload };
}

/** The settings, the reason why this browser refuses them, and the acts that confirm them. */
function useConfirmed({ profile }: Account, token: string) {
  const { id, encryptionMode } = profile;
  const { fields, begin } = useNewest();
  const [content, setContent] = useState<AccountContent | null>(null);
  const [refused, setRefused] = useState<SettingsRefusal | null>(null);
  const [, setConfirmed] = useState(0);
  const pins = useMemo(() => pinsOf(id), [id]);
  const access = useMemo(() => ({ content, pins }), [content, pins]);
  const isKeyHere = content !== null || rememberedKey(id) !== null;
  const expected = pinOf(id)?.mode ?? (isKeyHere ? 'e2ee' : encryptionMode);
  const ofMode = encryptionMode === 'plain' ? 'plain' : 'encrypted';
  const refusal = expected === encryptionMode ? refused : ofMode;
  /** @throws any other error */
  const noteRefusal = (error: unknown): void => {
    if (!(error instanceof SettingsRefused)) {
      throw error;
    }
    setRefused(error.reason);
  };
  const showRead = (read: Promise<SettingsFields>) => read.then(begin(), noteRefusal);
  const change: Settings['change'] = async (how) => {
    const written = changeSettings(clientFor(token), access, how);
    written.catch(noteRefusal).catch(() => undefined);
    const next = await written;
    begin()(next);
  };
  const acts = confirmingActs(token, access, refusal);
  const confirm = async () => {
    await acts.confirm();
    setRefused(null);
    // A changed pin alone would render nothing.
    setConfirmed((count) => count + 1);
  };
  const { review } = acts;
  return { fields, showRead, access, setContent, refusal, change, review, confirm };
}

/** The newest fields: a read that is answered after a later one began, or a write ended, shows nothing. */
function useNewest() {
  const [fields, setFields] = useState<SettingsFields | null>(null);
  const latest = useRef(0);
  /** @returns a function that shows the fields, unless it was called again meanwhile */
  const begin = () => {
    const turn = (latest.current += 1);
    return (found: SettingsFields): void => {
      if (turn === latest.current) {
        setFields(found);
      }
    };
  };
  return { fields, begin };
}

function confirmingActs(token: string, access: SettingsAccess, refusal: SettingsRefusal | null) {
  const client = clientFor(token);
  const review = async () => {
    let seen: SettingsFields = {};
    await acceptSettings(client, access, (found) => {
      seen = found;
      return false;
    });
    return seen;
  };
  const confirm = async () => {
    if (refusal === 'plain' || refusal === 'encrypted') {
      await pinMode(access.pins, refusal === 'plain' ? 'plain' : 'e2ee');
    } else {
      await acceptSettings(client, access, () => true);
    }
  };
  return { review, confirm };
}

/** A wrong key that writes would make the settings permanently unreadable. */
async function readFirst(
  token: string,
  key: DeviceKey,
  access: SettingsAccess,
  { profile }: Account,
): Promise<SettingsFields> {
  const { settings } = clientFor(token);
  let isSaved = false;
  const read = async () => {
    const stored = await settings.read();
    isSaved = stored.content !== null;
    return stored;
  };
  try {
    const write: typeof settings.write = (content, version) => settings.write(content, version);
    const fields = await readSettings({ settings: { read, write } }, access);
    if (!isSaved) {
      await requireOwnKey(clientFor(), key, profile.id);
    }
    return fields;
  } catch (error) {
    if (error instanceof SettingsUnreadable) {
      await requireOwnKey(clientFor(), key, profile.id);
    }
    throw error;
  }
}
