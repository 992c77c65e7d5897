import {
  AEAD_ChaCha20Poly1305,
  KDF_HKDF_SHA256,
  KEM_DHKEM_X25519_HKDF_SHA256,
} from '@panva/hpke-noble';
import { CipherSuite } from 'hpke';
import { parseJson } from '../../../common/parse-json.js';
import type { AccountMode, KeyMode } from '../../../core/policy/operator-policy.js';
import { readBase64 } from '../../../core/protocol/base64.js';
import { DEVICE_VERSION } from '../../../core/protocol/device-version.js';
import {
  handoverWords,
  isTypedWords,
  type DeviceIdentity,
  type HandoverFacts,
} from '../../../core/protocol/device-words.js';
import { base64UrlOf, randomBytes, requireRandom, utf8Bytes, utf8Text } from '../crypto/bytes.js';
import { DeviceKey } from '../crypto/device-key.js';
import type { SettingsMark } from '../crypto/account-content.js';
import { makeLoginProof, type LoginProof } from '../crypto/login-proof.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { readSettingsMark } from '../settings/account-pin.js';

const KEY_BYTES = 32;
const SECRET_BYTES = 32;
const TAG_BYTES = 16;
const MAX_SEALED_BYTES = 1024;
/** Version 1 sealed the 32 bytes of the account's secret, and nothing else. */
const OLDER_BYTES = KEY_BYTES + SECRET_BYTES + TAG_BYTES;
const PSK_ID = utf8Bytes('gatehouse device v2');

/** In pure JavaScript (RFC 9180), because engines such as React Native's lack Web Crypto. */
export const DEVICE_SUITE = new CipherSuite(
  KEM_DHKEM_X25519_HKDF_SHA256,
  KDF_HKDF_SHA256,
  AEAD_ChaCha20Poly1305,
);

/** Secrets that a new device stores from its request until it has its token. */
export interface DeviceSecrets extends LoginProof {
  /** Raw X25519 key, 43 characters of base64url. */
  readonly publicKey: string;
  /** The secret key, which opens the account. Same encoding. */
  readonly privateKey: string;
  /** Only the QR code or link has it. Same encoding. */
  readonly linkSecret: string;
}

/** The account that a device hands over to a new one. */
export interface HandedAccount {
  readonly accountId: string;
  readonly encryptionMode: AccountMode;
  /** null for an account without a device key. */
  readonly key: DeviceKey | null;
  /** The newest settings that the approving device has seen; null = none. */
  readonly settings: SettingsMark | null;
}

/** The approval as the new device opened it. */
export type OpenedApproval =
  | { readonly via: 'link'; readonly account: HandedAccount }
  | {
      readonly via: 'code';
      /**
       * Returns the account for the first three words of the approving device, typed by the person.
       * One try: then begin again. @throws DeviceSealError `words-differ`
       */
      readonly confirm: (typed: string) => HandedAccount;
    };

/** The reasons why an account was not sealed or opened. */
export type DeviceSealReason = keyof typeof MESSAGES;

const MESSAGES = {
  'invalid-key': 'This is no key of a device.',
  'invalid-link': 'This is no link of a device.',
  'other-key': 'The server returned another key than that of the link.',
  'not-for-this-device': 'The account was not sealed to this device.',
  'older-approver': 'The device that approved uses an older version. Update it, and begin again.',
  'other-account': 'The server returned another account than the one that was sealed.',
  'words-differ': 'These are not the words of the device that approved.',
} as const;

export class DeviceSealError extends Error {
  override readonly name = 'DeviceSealError';

  constructor(
    readonly reason: DeviceSealReason,
    options?: ErrorOptions,
  ) {
    super(MESSAGES[reason], options);
  }
}

/** Generates the secrets of a new device: an X25519 key pair, a proof and the secret of its link. */
export async function makeDeviceSecrets(): Promise<DeviceSecrets> {
  requireRandom();
  const { publicKey, privateKey } = await DEVICE_SUITE.GenerateKeyPair(true);
  return {
    ...(await makeLoginProof()),
    publicKey: base64UrlOf(await DEVICE_SUITE.SerializePublicKey(publicKey)),
    privateKey: base64UrlOf(await DEVICE_SUITE.SerializePrivateKey(privateKey)),
    linkSecret: base64UrlOf(randomBytes(SECRET_BYTES)),
  };
}

export interface SealedApproval {
  /** `enc || ct` of RFC 9180, 5.1.1, in base64url. The server can neither open nor make it. */
  readonly sealed: string;
  /** The words to show, of which the person types three on the new device; null for a link. */
  readonly words: readonly string[] | null;
}

/**
 * Seals an account to a new device.
 *
 * @param device `publicKey` of the link, or one whose words the person compared
 * @param linkSecret of the link; null for a typed code
 * @throws DeviceSealError `invalid-key`, `invalid-link`
 */
export async function sealAccount(
  device: DeviceIdentity,
  account: HandedAccount,
  linkSecret: string | null,
): Promise<SealedApproval> {
  const raw = readBase64(device.publicKey, KEY_BYTES, KEY_BYTES);
  if (raw === null) {
    throw new DeviceSealError('invalid-key');
  }
  const options = optionsFor(device.origins, linkSecret);
  const { key, settings, ...facts } = factsOf(account);
  const text = JSON.stringify({
    v: DEVICE_VERSION,
    ...facts,
    ...(key !== null && { secret: base64UrlOf(key.bytes) }),
    ...(settings !== null && { settings }),
  });
  let sealed: string;
  try {
    const recipient = await DEVICE_SUITE.DeserializePublicKey(raw);
    const sent = await DEVICE_SUITE.Seal(recipient, Uint8Array.from(utf8Bytes(text)), options);
    sealed = base64UrlOf(Uint8Array.from([...sent.encapsulatedSecret, ...sent.ciphertext]));
  } catch (cause) {
    throw new DeviceSealError('invalid-key', { cause });
  }
  const words = { ...facts, accountKey: key?.publicKey ?? null };
  return { sealed, words: linkSecret === null ? handoverWords(device, words) : null };
}

function factsOf(account: HandedAccount) {
  const keyMode: KeyMode = account.key === null ? 'keyless' : 'keyed';
  return { ...account, keyMode, nonce: base64UrlOf(randomBytes(SECRET_BYTES)) };
}

/**
 * Opens the approval that the server returned to this device. Ask the person whose account it is
 * before you store or use it.
 *
 * @param origins of the device's own request
 * @param approved of `waitForApproval`
 * @throws DeviceSealError `not-for-this-device`, `older-approver`, `other-account`
 */
export async function openApproval(
  secrets: Pick<DeviceSecrets, 'publicKey' | 'privateKey' | 'linkSecret'>,
  origins: readonly string[],
  approved: { readonly accountId: string; readonly sealed?: string | null | undefined },
): Promise<OpenedApproval> {
  const bytes = readBase64(approved.sealed ?? '', KEY_BYTES + TAG_BYTES, MAX_SEALED_BYTES);
  const raw = readBase64(secrets.privateKey, KEY_BYTES, KEY_BYTES);
  if (bytes === null || raw === null) {
    throw new DeviceSealError('not-for-this-device');
  }
  const key = await DEVICE_SUITE.DeserializePrivateKey(raw, false);
  const open = (linkSecret: string | null) => {
    const options = optionsFor(origins, linkSecret);
    const [enc, ciphertext] = [bytes.slice(0, KEY_BYTES), bytes.slice(KEY_BYTES)];
    return DEVICE_SUITE.Open(key, enc, ciphertext, options).catch(() => null);
  };
  const byLink = await open(secrets.linkSecret);
  const plaintext = byLink ?? (await open(null));
  if (plaintext === null) {
    const isOlder = bytes.length === OLDER_BYTES;
    throw new DeviceSealError(isOlder ? 'older-approver' : 'not-for-this-device');
  }
  const { account, facts } = await readAccount(plaintext);
  if (account.accountId !== approved.accountId) {
    throw new DeviceSealError('other-account');
  }
  return byLink === null
    ? { via: 'code', confirm: once(account, handoverWords({ ...secrets, origins }, facts)) }
    : { via: 'link', account };
}

/** Gives the account out for the right words, at the first try only. */
function once(account: HandedAccount, words: readonly string[]): (typed: string) => HandedAccount {
  let isTried = false;
  return (typed) => {
    const isRight = !isTried && isTypedWords(words, typed);
    isTried = true;
    if (!isRight) {
      throw new DeviceSealError('words-differ');
    }
    return account;
  };
}

/** @throws DeviceSealError for a link without a secret: the library would use base mode in silence */
function optionsFor(origins: readonly string[], linkSecret: string | null) {
  const how = linkSecret === null ? 'code' : 'link';
  const info = utf8Bytes(`gatehouse device v2 ${how}\n${origins.join(' ')}`);
  if (linkSecret === null) {
    return { info };
  }
  const psk = readBase64(linkSecret, SECRET_BYTES, SECRET_BYTES);
  if (psk === null) {
    throw new DeviceSealError('invalid-link');
  }
  return { info, psk, pskId: PSK_ID };
}

async function readAccount(
  plaintext: Uint8Array,
): Promise<{ readonly account: HandedAccount; readonly facts: HandoverFacts }> {
  const handed = parseJson(textOf(plaintext));
  const { v, accountId, keyMode, encryptionMode, secret, nonce, settings } = isRecord(handed)
    ? handed
    : {};
  const seed = typeof secret === 'string' ? readBase64(secret, SECRET_BYTES, SECRET_BYTES) : null;
  const mark = readSettingsMark(settings);
  const isKeyed = keyMode === 'keyed' && seed !== null;
  const isKeyless = keyMode === 'keyless' && secret === undefined;
  if (
    v !== DEVICE_VERSION ||
    typeof accountId !== 'string' ||
    !(isKeyed || isKeyless) ||
    (encryptionMode !== 'e2ee' && encryptionMode !== 'plain') ||
    typeof nonce !== 'string' ||
    readBase64(nonce, SECRET_BYTES, SECRET_BYTES) === null ||
    (settings !== undefined && mark === null)
  ) {
    throw new DeviceSealError('not-for-this-device');
  }
  const key = seed === null ? null : await DeviceKey.fromSecret(seed);
  const facts = {
    accountId,
    keyMode: isKeyed ? 'keyed' : 'keyless',
    encryptionMode,
    accountKey: key?.publicKey ?? null,
    nonce,
  } as const;
  return { account: { accountId, encryptionMode, key, settings: mark }, facts };
}

/** Returns nothing for bytes that are not UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return utf8Text(bytes);
  } catch {
    return '';
  }
}
