import { unlessUnusable } from '../../../common/private-files.js';
import type { AccountPin, PinStore } from '../../../packages/client/settings/account-pin.js';
import type { SettingsAccess } from '../../../packages/client/settings/account-settings.js';
import type { CurrentSession } from './current-session.js';

/** A computer that keeps no key for the server follows the server; null = such a computer. */
export async function settingsAccess(current: CurrentSession): Promise<SettingsAccess | null> {
  const { session, store } = current;
  const { server, accountId } = session;
  const pins = tolerant(store.pins(server, accountId));
  const [secret, pin] = [await store.accountSecret(server), await pins.read()];
  if (secret === null || pin?.mode === 'plain') {
    return pin === null ? null : { content: null, pins };
  }
  if (!(await isKeyOfAccount(current))) {
    return { content: null, pins: pinnedByDefault(pins) };
  }
  const { AccountContent } = await import('../../../packages/client/crypto/account-content.js');
  return { content: new AccountContent(secret, accountId), pins: binding(current, pins) };
}

/** GATEHOUSE_TOKEN, and a session without a key, may be of another account than the stored key. */
export async function isKeyOfAccount({
  session,
  store,
  isFromEnvironment,
}: CurrentSession): Promise<boolean> {
  const { server, accountId } = session;
  const known = await store.keyAccount(server);
  if (known !== null) {
    return known === accountId;
  }
  const stored = isFromEnvironment ? await store.session(server) : null;
  return stored === null || stored.accountId === accountId;
}

/** Settings that the key opened prove the account of the key. */
function binding({ session, store }: CurrentSession, pins: PinStore): PinStore {
  const { server, accountId } = session;
  const update: PinStore['update'] = async (change) => {
    await pins.update(change);
    await store.bindKey(server, accountId).catch(unlessUnusable);
  };
  return { read: () => pins.read(), update };
}

/** Only the server names the account of GATEHOUSE_TOKEN: its name alone must not unpin anything. */
function pinnedByDefault(pins: PinStore): PinStore {
  const read = async (): Promise<AccountPin> =>
    (await pins.read()) ?? { mode: 'e2ee', settings: null };
  return { read, update: (change) => pins.update(change) };
}

/** A read-only directory cannot remember what was read: that must not stop a sender. */
function tolerant(pins: PinStore): PinStore {
  return {
    read: () => pins.read(),
    update: (change) => pins.update(change).catch(unlessUnusable),
  };
}
