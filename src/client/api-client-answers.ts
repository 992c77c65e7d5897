import type { AuthMethod } from '../policy/auth-methods.js';
import type { Content } from '../policy/content.js';
import type { AccountMode, StoragePolicy } from '../policy/storage-policy.js';
import type { components } from './api-types.js';
import { readAuthMethods } from './auth-methods-reader.js';
import { isRecord } from './problem.js';

type Schemas = components['schemas'];

/** `GET /v1/features`, the part that clients decide by (contract, Discovery). */
export interface ServerFeatures {
  readonly capabilities: {
    readonly auth: {
      readonly methods: readonly AuthMethod[];
      readonly login?: {
        readonly requiredProviders?: readonly string[];
        readonly serverChallenge?: 'optional' | 'required';
      };
      readonly providers?: Readonly<Record<string, { readonly displayName: string }>>;
    };
    readonly encryption?: {
      readonly storagePolicy: StoragePolicy;
      readonly defaultAccountMode: AccountMode;
    };
    readonly server?: { readonly version: string; readonly apiVersions: readonly string[] };
  };
}

export type Challenge = Readonly<Schemas['ChallengeDto']>;
export type SignedLogin = Readonly<
  Pick<Schemas['DeviceKeyLoginDto'], 'publicKey' | 'challenge' | 'signature'>
>;
export type LoginAnswer = Readonly<Omit<Schemas['LoginAnswerDto'], 'success'>>;
export type AccountProfile = Readonly<Schemas['AccountProfileDto']>;
export type AccountSession = Readonly<Schemas['SessionDto']>;
export type SavedPushToken = Readonly<Schemas['PushTokenDto']>;
export type Encryption = Readonly<Schemas['EncryptionDto']>;

/** What `POST /v2/auth/devices` answered: poll by `id`, show `userCode`. */
export type DeviceRequest = Readonly<Schemas['DeviceRequestDto']>;
/** A device that waits for an answer. */
export type WaitingDevice = Readonly<Schemas['WaitingDeviceDto']>;
/** Whether a device was approved; its token comes once. */
export type DeviceToken = { readonly state: 'pending' | 'refused' } | ApprovedDevice;

export interface ApprovedDevice {
  readonly state: 'approved';
  readonly token: string;
  readonly accountId: string;
  /** The account's secret, for `openSealedSecret`; null for accounts without a device key. */
  readonly sealed: string | null;
}

export interface StoredSettings {
  /** null before the first write. */
  readonly content: Content | null;
  /** Send it back as `expectedVersion`. */
  readonly version: number;
}

export interface StoredCredential {
  readonly service: string;
  readonly content: Content;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** Not written where somebody else was faster: merge into what is there and write again. */
export type SettingsWrite =
  | { readonly success: true; readonly version: number }
  | {
      readonly success: false;
      readonly error: 'version-mismatch';
      readonly currentVersion: number;
      readonly currentContent: Content | null;
    };

/** What `/v1/updates` sends (contract, Updates). */
export interface AccountUpdate {
  readonly id: string;
  /** Grows by one per account: a gap means that something was missed. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: { readonly t: string };
}

export function isFeatures(value: unknown): value is ServerFeatures {
  const capabilities = isRecord(value) ? value['capabilities'] : null;
  const auth = isRecord(capabilities) ? capabilities['auth'] : null;
  return isRecord(auth) && (Array.isArray(auth['methods']) || isRecord(auth['signup']));
}

/** The document with `methods` read, from an older server's `signup.methods` where it has none. */
export function withMethods(features: ServerFeatures): ServerFeatures {
  const { capabilities } = features;
  const methods = readAuthMethods(capabilities.auth);
  // An older server describes no providers: its methods are what there is to show.
  const described = Array.isArray(capabilities.auth.methods)
    ? {}
    : Object.fromEntries(methods.map(({ method }) => [method, { displayName: method }]));
  const auth = { providers: described, ...capabilities.auth, methods };
  return { ...features, capabilities: { ...capabilities, auth } };
}

export function isChallenge(value: unknown): value is Challenge {
  return isRecord(value) && typeof value['challenge'] === 'string';
}

export function isLoginAnswer(value: unknown): value is LoginAnswer {
  return (
    isRecord(value) && typeof value['token'] === 'string' && typeof value['accountId'] === 'string'
  );
}

export function isDeviceRequest(value: unknown): value is DeviceRequest {
  if (!isRecord(value)) {
    return false;
  }
  const { id, userCode, intervalSeconds } = value;
  return (
    typeof id === 'string' && typeof userCode === 'string' && typeof intervalSeconds === 'number'
  );
}

export function isWaitingDevice(value: unknown): value is WaitingDevice {
  return (
    isRecord(value) && typeof value['id'] === 'string' && typeof value['publicKey'] === 'string'
  );
}

export function isDeviceToken(value: unknown): value is DeviceToken {
  if (!isRecord(value) || value['state'] !== 'approved') {
    return isRecord(value) && (value['state'] === 'pending' || value['state'] === 'refused');
  }
  const { sealed } = value;
  return isLoginAnswer(value) && (sealed === null || typeof sealed === 'string');
}

export function isProfile(value: unknown): value is AccountProfile {
  return isRecord(value) && typeof value['id'] === 'string' && Array.isArray(value['identities']);
}

export function isSessionList(
  value: unknown,
): value is { readonly sessions: readonly AccountSession[] } {
  return isRecord(value) && Array.isArray(value['sessions']) && value['sessions'].every(isRecord);
}

export function isTokenList(value: unknown): value is { readonly tokens: SavedPushToken[] } {
  return isRecord(value) && Array.isArray(value['tokens']) && value['tokens'].every(isRecord);
}

export function isSuccess(value: unknown): value is { readonly success: true } {
  return isRecord(value) && value['success'] === true;
}

export function isAddress(value: unknown): value is { readonly url: string } {
  return isRecord(value) && typeof value['url'] === 'string';
}

export function isStoredSettings(value: unknown): value is StoredSettings {
  return isRecord(value) && typeof value['version'] === 'number';
}

export function isSettingsWrite(value: unknown): value is SettingsWrite {
  return isRecord(value) && typeof value['success'] === 'boolean';
}

export function isEncryption(value: unknown): value is Encryption {
  return isRecord(value) && (value['mode'] === 'e2ee' || value['mode'] === 'plain');
}

export function isCredential(value: unknown): value is StoredCredential {
  return isRecord(value) && typeof value['service'] === 'string' && isRecord(value['content']);
}

export function isCredentialList(
  value: unknown,
): value is { readonly credentials: readonly StoredCredential[] } {
  return isRecord(value) && Array.isArray(value['credentials']);
}
