import { parseJson } from '../../../common/parse-json.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';
import type { Content } from '../../../core/protocol/content.js';
import type { AccountContent, SettingsMark } from '../crypto/account-content.js';
import { pause } from '../abort.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { noteSettings, type AccountPin, type PinStore } from './account-pin.js';
import type { StoredSettings } from '../api/api-client-answers.js';
import type { SettingsRoutes } from '../api/account-routes.js';
import { onRefusal } from '../api/problem.js';

/** An account's settings as `GET /v2/account/settings` returns them. */
export type SettingsContent =
  | { readonly t: 'plain'; readonly v: unknown }
  | { readonly t: 'encrypted'; readonly c: string }
  | null;

/** The settings document: all fields, also those of other clients. */
export type SettingsFields = Readonly<Record<string, unknown>>;

/** Decrypts settings that an app encrypted in its own form: the document, or its JSON. */
export type Decrypt = (encrypted: string) => unknown;

/** The key or function that decrypts encrypted settings. */
export type SettingsKey = Pick<AccountContent, 'openSettings'> | Decrypt;

/** The means of this device to read and write the settings of one account. */
export interface SettingsAccess {
  /** Opens and seals; null on a device without the key of the account. */
  readonly content: AccountContent | null;
  /** Next to the key of the account. */
  readonly pins: PinStore;
}

/**
 * The settings cannot be read, so the preferences are unknown: defaults could reveal text that the
 * person chose to hide.
 */
export class SettingsUnreadable extends Error {
  override readonly name: string = 'SettingsUnreadable';
}

/**
 * `plain`, `encrypted`: the settings are of the other mode than the pinned one. `missing`, `older`,
 * `replaced`: this device has seen newer ones, or others of the same revision.
 */
export type SettingsRefusal = 'plain' | 'encrypted' | 'missing' | 'older' | 'replaced';

/**
 * The server returned settings that this device refuses until the person confirms them on it: with
 * `pinMode` (`plain`, `encrypted`) or `acceptSettings`.
 */
export class SettingsRefused extends SettingsUnreadable {
  override readonly name = 'SettingsRefused';

  constructor(
    readonly reason: SettingsRefusal,
    options?: ErrorOptions,
  ) {
    super(REFUSALS[reason], options);
  }
}

const CAUSES = 'The cause is an older app, a restored backup, or the server.';
const REFUSALS: Readonly<Record<SettingsRefusal, string>> = {
  plain:
    'The server stores the content so that it can read it, but this device keeps a key of the account and expects it end-to-end encrypted.',
  encrypted:
    'The content is end-to-end encrypted, but this device expects that the server can read it.',
  missing: `The server returned no settings, but this device has seen some. ${CAUSES}`,
  older: `The server returned older settings than this device has seen. ${CAUSES}`,
  replaced: `The server returned other settings than this device has seen, under the same revision. ${CAUSES}`,
};

/**
 * The settings document of an account; an empty one where nothing was saved yet.
 *
 * @param key of the account: with a key, only end-to-end encrypted settings are read
 * @param pin what this device remembers of the account; it decides about the mode in place of `key`
 * @throws SettingsUnreadable, SettingsRefused
 */
export async function openSettings(
  content: SettingsContent,
  key?: SettingsKey,
  pin: AccountPin | null = null,
): Promise<SettingsFields> {
  return (await openNewest(content, key ?? null, pin)).fields;
}

/** {@link openSettings}, with the mark of what was opened. */
export async function openNewest(
  content: SettingsContent,
  key: SettingsKey | null,
  pin: AccountPin | null,
): Promise<Opened> {
  const opened = await open(content, key, pin);
  requireNewest(opened.mark, pin);
  return opened;
}

interface Opened {
  readonly fields: SettingsFields;
  /** null where the settings are plain, missing, or in the form of another app. */
  readonly mark: SettingsMark | null;
}

async function open(
  content: SettingsContent,
  key: SettingsKey | null,
  pin: AccountPin | null,
): Promise<Opened> {
  const mode = modeOf(key, pin);
  if (content?.t === 'plain' && mode === 'e2ee') {
    throw new SettingsRefused('plain');
  }
  if (content?.t === 'encrypted' && mode === 'plain') {
    throw new SettingsRefused('encrypted');
  }
  if (key === null && (mode === 'e2ee' || content?.t === 'encrypted')) {
    throw withoutKey();
  }
  if (content === null) {
    return { fields: {}, mark: null };
  }
  const { value, mark } =
    content.t === 'plain' ? { value: content.v, mark: null } : await decrypted(content.c, key);
  return { fields: fieldsOf(value), mark };
}

export function withoutKey(): SettingsUnreadable {
  return new SettingsUnreadable(
    'The content is end-to-end encrypted, and there is no device key to open it with.',
  );
}

/** null: a device that has no key of the account, and has had none, follows the server. */
export function modeOf(key: SettingsKey | null, pin: AccountPin | null): AccountMode | null {
  return pin?.mode ?? (key === null ? null : 'e2ee');
}

async function decrypted(
  sealed: string,
  key: SettingsKey | null,
): Promise<{ readonly value: unknown; readonly mark: SettingsMark | null }> {
  try {
    return typeof key === 'function'
      ? { value: await key(sealed), mark: null }
      : (key as Pick<AccountContent, 'openSettings'>).openSettings(sealed);
  } catch (cause) {
    // Compared by name, because importing the class would load the cryptography.
    const isExplained = cause instanceof Error && cause.name === 'ContentUnreadable';
    const why = isExplained ? ` ${cause.message}` : '';
    throw new SettingsUnreadable(`The settings could not be decrypted.${why}`, { cause });
  }
}

function fieldsOf(document: unknown): SettingsFields {
  const fields = typeof document === 'string' ? parseJson(document) : document;
  if (typeof document === 'string' && fields === undefined) {
    throw new SettingsUnreadable('The settings are not JSON.');
  }
  if (!isRecord(fields)) {
    throw new SettingsUnreadable('The settings are not a JSON object.');
  }
  return fields;
}

/** @throws SettingsRefused where this device has seen newer settings, or others */
function requireNewest(mark: SettingsMark | null, pin: AccountPin | null): void {
  const known = pin?.mode === 'e2ee' ? pin.settings : null;
  if (known === null) {
    return;
  }
  if (mark === null) {
    throw new SettingsRefused('missing');
  }
  if (mark.rev < known.rev) {
    throw new SettingsRefused('older');
  }
  // Version 1 has no revisions: its values change under revision 0.
  if (mark.rev === known.rev && mark.rev > 0 && mark.hash !== known.hash) {
    throw new SettingsRefused('replaced');
  }
}

/** Each attempt lost to a concurrent change; the settings are unchanged. */
export class SettingsConflict extends Error {
  override readonly name = 'SettingsConflict';

  constructor() {
    super('The settings keep changing. Try again in a moment.');
  }
}

const MAX_WRITES = 12;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

/** The means by which a write that lost to another client waits before the next one. */
export interface SettingsWait {
  /** Waits; rejects to give up. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** Returns a number from 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/** A client with the account's token. */
export interface SettingsClient {
  readonly settings: Pick<SettingsRoutes, 'read' | 'write'>;
}

/**
 * Reads the account's settings, and notes them as the newest that this device has seen.
 *
 * @param client with the account's token
 * @param access null on a device that has no key of the account, and has had none
 * @throws SettingsUnreadable, SettingsRefused
 */
export async function readSettings(
  client: SettingsClient,
  access: SettingsAccess | null,
): Promise<SettingsFields> {
  return (await readNewest(client, access)).fields;
}

/**
 * Changes the account's settings where their version is still the one that was read; after a
 * concurrent change it reads them again and applies `change` to those. Each further try waits longer, at most
 * five seconds: of many clients that write at once, each has its turn.
 *
 * @param client with the account's token
 * @param access null on a device that has no key of the account, and has had none
 * @param change returns all fields, those it does not know included; the same object = nothing to write
 * @returns the fields as they are now
 * @throws SettingsUnreadable, SettingsRefused, SettingsConflict, and what `change` or `sleep` throws
 */
export async function changeSettings(
  client: SettingsClient,
  access: SettingsAccess | null,
  change: (fields: SettingsFields) => SettingsFields | Promise<SettingsFields>,
  wait?: SettingsWait,
): Promise<SettingsFields> {
  return untilStored(async () => {
    const read = await readNewest(client, access);
    const fields = await change(read.fields);
    return fields === read.fields || (await write(client, access, read, fields)) ? fields : null;
  }, wait);
}

/**
 * Repeats `attempt` until it returns a result; null = another client has written meanwhile.
 * @throws SettingsConflict
 */
export async function untilStored<Result>(
  attempt: () => Promise<Result | null>,
  { sleep = (ms) => pause(ms, undefined), random = Math.random }: SettingsWait = {},
): Promise<Result> {
  for (let tries = 0; tries < MAX_WRITES; tries += 1) {
    if (tries > 0) {
      await sleep(random() * Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), MAX_PAUSE_MS));
    }
    const result = await attempt();
    if (result !== null) {
      return result;
    }
  }
  throw new SettingsConflict();
}

/**
 * Accepts settings that are `missing`, `older` or `replaced`, and writes them under a higher
 * revision than any that this device has seen.
 *
 * @param confirm asks the person, with the settings as they are
 * @returns the settings, or null where the person did not confirm
 * @throws SettingsUnreadable, SettingsRefused (`plain`, `encrypted`), SettingsConflict
 */
export async function acceptSettings(
  client: SettingsClient,
  access: SettingsAccess,
  confirm: (fields: SettingsFields) => boolean | Promise<boolean>,
): Promise<SettingsFields | null> {
  const read = await readAny(client, access);
  if (!(await confirm(read.fields))) {
    return null;
  }
  if (!(await write(client, access, read, read.fields))) {
    throw new SettingsConflict();
  }
  return read.fields;
}

interface Read extends Opened {
  readonly pin: AccountPin | null;
  readonly stored: StoredSettings;
}

async function readNewest(client: SettingsClient, access: SettingsAccess | null): Promise<Read> {
  const read = await readAny(client, access);
  requireNewest(read.mark, read.pin);
  if (access !== null && read.mark !== null) {
    await noteSettings(access.pins, read.pin, read.mark);
  }
  return read;
}

async function readAny(client: SettingsClient, access: SettingsAccess | null): Promise<Read> {
  // Before the request: another process of this device may note what it writes meanwhile.
  const pin = access === null ? null : await access.pins.read();
  const stored = await client.settings.read();
  const opened = await open(stored.content, access?.content ?? null, pin);
  return { ...opened, pin, stored };
}

/** Returns false if another client has written since the settings were read. */
async function write(
  client: SettingsClient,
  access: SettingsAccess | null,
  { pin, mark, stored }: Read,
  fields: SettingsFields,
): Promise<boolean> {
  const content = access?.content ?? null;
  if (access === null || content === null || modeOf(content, pin) === 'plain') {
    return send(client, { t: 'plain', v: fields }, stored.version);
  }
  const rev = Math.max(pin?.settings?.rev ?? 0, mark?.rev ?? 0) + 1;
  const c = content.sealSettings(rev, fields);
  const isWritten = await send(client, { t: 'encrypted', c }, stored.version);
  if (isWritten) {
    await noteSettings(access.pins, pin, content.markOf(rev, c));
  }
  return isWritten;
}

async function send(client: SettingsClient, content: Content, version: number): Promise<boolean> {
  // The server reports the other mode, which only the person may change on this device.
  const refused = onRefusal(['content-mode-mismatch'], (cause) => {
    throw new SettingsRefused(content.t === 'encrypted' ? 'plain' : 'encrypted', { cause });
  });
  const { success } = await client.settings.write(content, version).catch(refused);
  return success;
}
