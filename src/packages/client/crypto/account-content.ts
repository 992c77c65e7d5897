import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { readBase64 } from '../../../core/protocol/base64.js';
import { ACCOUNT_SECRET_BYTES } from './key-text.js';
import { hideFromLogs } from '../hide-from-logs.js';
import { base64UrlOf, randomBytes, utf8Bytes, utf8Text } from './bytes.js';

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const VERSION = '1.';
/** The settings of version 2: `2.`, the revision, a dot and the sealed bytes. */
const SETTINGS_FORM = /^2\.([1-9]\d{0,15})\.([\w-]*)$/;
const INFO = 'gatehouse content v1';
/** More than a server stores. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The purpose of a credential. A value of one purpose cannot be opened as that of another. */
export type CredentialPurpose = `credential:${string}`;

/** The settings that a device opened or wrote. It keeps the newest, to recognise older ones. */
export interface SettingsMark {
  /** Grows by one with each write; 0 = settings of version 1, which have none. */
  readonly rev: number;
  /** SHA-256 of the sealed value, base64url. */
  readonly hash: string;
}

export interface OpenedSettings {
  readonly value: unknown;
  readonly mark: SettingsMark;
}

/**
 * A value could not be opened. `other-form`: another client wrote it in a form of its own, keep it
 * as it is. `not-authentic`: it is of another key, account or purpose, or was modified.
 * `not-json`: the key is right, but another program wrote the content.
 */
export class ContentUnreadable extends Error {
  override readonly name = 'ContentUnreadable';

  constructor(
    readonly reason: 'other-form' | 'not-authentic' | 'not-json',
    options?: ErrorOptions,
  ) {
    super(MESSAGES[reason], options);
  }
}

const MESSAGES = {
  'other-form': 'Another client encrypted this value, in a form of its own.',
  'not-authentic': 'This value is of another key, account or purpose, or it was modified.',
  'not-json': 'The decrypted value is not JSON.',
} as const;

/**
 * The key of an account's content: HKDF-SHA-256 (RFC 5869) of the account's secret, empty salt.
 *
 * @param secret 32 bytes
 */
export function deriveContentKey(secret: Uint8Array): Uint8Array {
  if (secret.length !== ACCOUNT_SECRET_BYTES) {
    throw new TypeError(`An account's secret has ${ACCOUNT_SECRET_BYTES} bytes.`);
  }
  return hkdf(sha256, secret, undefined, utf8Bytes(INFO), KEY_BYTES);
}

/**
 * Seals and opens the end-to-end encrypted values of an account: `c` of its settings and
 * credentials (contract, Account content). The server cannot read them.
 */
export class AccountContent {
  private readonly key: Uint8Array;

  /** @param secret of the account's key: `key.bytes` */
  constructor(
    secret: Uint8Array,
    private readonly accountId: string,
  ) {
    this.key = deriveContentKey(secret);
    hideFromLogs(this, 'key');
  }

  /**
   * Seals a credential.
   *
   * @param value anything that JSON can represent
   * @returns `1.` and base64url of nonce, ciphertext and tag
   */
  seal(purpose: CredentialPurpose, value: unknown): string {
    return `${VERSION}${this.sealed(this.dataOf(credential(purpose)), value)}`;
  }

  /** Opens a credential. @throws ContentUnreadable */
  open(purpose: CredentialPurpose, sealed: string): unknown {
    return this.opened(this.dataOf(credential(purpose)), bytesOf(sealed));
  }

  /**
   * Seals the settings.
   *
   * @param rev one more than the highest that this device has seen, and that of the stored settings
   * @returns `2.`, the revision, a dot and base64url of nonce, ciphertext and tag
   */
  sealSettings(rev: number, value: unknown): string {
    if (!Number.isSafeInteger(rev) || rev < 1) {
      throw new TypeError('A revision is an integer from 1.');
    }
    return `2.${rev}.${this.sealed(this.settingsData(rev), value)}`;
  }

  /** Opens settings of version 2, or of version 1, whose revision is 0. @throws ContentUnreadable */
  openSettings(sealed: string): OpenedSettings {
    const [, digits = '0', text] = SETTINGS_FORM.exec(sealed) ?? [];
    const rev = Number(digits);
    const bytes = text === undefined ? bytesOf(sealed) : sealedBytes(text);
    const value = this.opened(this.settingsData(rev), Number.isSafeInteger(rev) ? bytes : null);
    return { value, mark: this.markOf(rev, sealed) };
  }

  /** Returns the mark of sealed settings that this device wrote. */
  markOf(rev: number, sealed: string): SettingsMark {
    return { rev, hash: base64UrlOf(sha256(utf8Bytes(sealed))) };
  }

  private settingsData(rev: number): string {
    return this.dataOf('settings') + (rev === 0 ? '' : `\n${rev}`);
  }

  /** @returns the associated data */
  private dataOf(purpose: string): string {
    // The line feed separates the two, so that neither may contain one.
    if (`${purpose}${this.accountId}`.includes('\n')) {
      throw new TypeError('A purpose and an account id have no line feeds.');
    }
    return `${purpose}\n${this.accountId}`;
  }

  private sealed(data: string, value: unknown): string {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) {
      throw new TypeError('JSON cannot represent this value.');
    }
    const nonce = randomBytes(NONCE_BYTES);
    const sealed = this.cipher(data, nonce).encrypt(utf8Bytes(text));
    const bytes = new Uint8Array(NONCE_BYTES + sealed.length);
    bytes.set(nonce);
    bytes.set(sealed, NONCE_BYTES);
    return base64UrlOf(bytes);
  }

  private opened(data: string, bytes: Uint8Array | null): unknown {
    if (bytes === null) {
      throw new ContentUnreadable('other-form');
    }
    let opened: Uint8Array;
    try {
      const cipher = this.cipher(data, bytes.subarray(0, NONCE_BYTES));
      opened = cipher.decrypt(bytes.subarray(NONCE_BYTES));
    } catch (cause) {
      throw new ContentUnreadable('not-authentic', { cause });
    }
    try {
      return JSON.parse(utf8Text(opened));
    } catch {
      // Without the parser's error as the cause: it quotes the content.
      throw new ContentUnreadable('not-json');
    }
  }

  private cipher(data: string, nonce: Uint8Array) {
    return xchacha20poly1305(this.key, nonce, utf8Bytes(data));
  }
}

/** Settings have a revision: as a credential they would be version 1, which devices then refuse. */
function credential(purpose: CredentialPurpose): string {
  if (!purpose.startsWith('credential:')) {
    throw new TypeError('Use sealSettings and openSettings for the settings.');
  }
  return purpose;
}

/** Returns null for another form. Each value has one spelling, so that no part can be changed. */
function bytesOf(sealed: string): Uint8Array | null {
  const text = sealed.slice(VERSION.length);
  return sealed.startsWith(VERSION) && /^[\w-]*$/.test(text) ? sealedBytes(text) : null;
}

function sealedBytes(text: string): Uint8Array | null {
  return readBase64(text, NONCE_BYTES + TAG_BYTES, MAX_BYTES);
}
