import { createCipheriv, createDecipheriv } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Random } from '../../../common/runtime/random.js';
import { MasterKeys } from './master-keys.js';

/** Each purpose has its own key, so that a seal of one kind never opens as another. */
export type SealPurpose =
  | 'account-credentials'
  | 'admin-login'
  | 'admin-session'
  | 'account-settings'
  | 'agent-request'
  | 'external-flow'
  | 'external-pending'
  | 'identity-credentials'
  | 'mtls-claim'
  | 'mtls-connect'
  | 'mtls-connect-start'
  | 'program-grant'
  | 'program-request'
  | 'signing-key';

/** The bytes are not a seal of that purpose and owner, or their master secret is missing. */
export class BrokenSealError extends Error {
  override readonly name = 'BrokenSealError';
}

interface SealKeys {
  readonly current: SealKey;
  readonly all: readonly SealKey[];
}

interface SealKey {
  readonly id: Buffer;
  readonly bytes: Uint8Array;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const KEY_ID_BYTES = 4;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
/** Random, so one key may seal 2^32 times (NIST SP 800-38D, 8.3): each purpose has its own. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. The envelope is version, key id, nonce, ciphertext and tag. Purpose and owner are
 * authenticated with it, so that a seal cannot be moved to another row.
 */
@Injectable()
export class SealedBoxService implements OnModuleInit {
  private readonly keys = new Map<SealPurpose, SealKeys>();

  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly random: Random,
  ) {}

  onModuleInit(): void {
    this.masterKeys.onChange(() => this.keys.clear());
  }

  /** @param owner of the text: an account, or the key of a row */
  seal(purpose: SealPurpose, owner: string, text: string): Buffer {
    const { id, bytes } = this.keysFor(purpose).current;
    const header = Buffer.concat([Buffer.of(VERSION), id]);
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(header, purpose, owner));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([header, nonce, sealed, cipher.getAuthTag()]);
  }

  open(purpose: SealPurpose, owner: string, envelope: Buffer): string {
    if (envelope.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES || envelope[0] !== VERSION) {
      throw new BrokenSealError('This is not a seal.');
    }
    const id = envelope.subarray(1, HEADER_BYTES);
    const candidates = this.keysFor(purpose).all.filter((key) => key.id.equals(id));
    for (const { bytes } of candidates) {
      const text = decrypt(bytes, envelope, purpose, owner);
      if (text !== null) {
        return text;
      }
    }
    throw new BrokenSealError(
      candidates.length === 0
        ? `No master secret has the key id ${id.toString('hex')}.`
        : 'The seal is broken, or belongs to another owner.',
    );
  }

  /** {@link open} that returns null where it throws BrokenSealError. */
  openOrNull(purpose: SealPurpose, owner: string, envelope: Buffer): string | null {
    try {
      return this.open(purpose, owner, envelope);
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return null;
      }
      throw error;
    }
  }

  /** Returns the key id of new seals: bytes 2 to 5 of each seal. */
  currentKeyId(purpose: SealPurpose): Buffer {
    return this.keysFor(purpose).current.id;
  }

  private keysFor(purpose: SealPurpose): SealKeys {
    let keys = this.keys.get(purpose);
    if (keys === undefined) {
      const label = `seal:${purpose}`;
      keys = {
        current: toSealKey(this.masterKeys.currentKey(label)),
        all: this.masterKeys.allKeys(label).map(toSealKey),
      };
      this.keys.set(purpose, keys);
    }
    return keys;
  }
}

function decrypt(
  key: Uint8Array,
  envelope: Buffer,
  purpose: SealPurpose,
  owner: string,
): string | null {
  const nonce = envelope.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(envelope.subarray(0, HEADER_BYTES), purpose, owner));
  decipher.setAuthTag(envelope.subarray(-TAG_BYTES));
  const sealed = envelope.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES);
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Purposes contain no NUL, so header, purpose and owner are unambiguous. */
function associatedData(header: Uint8Array, purpose: SealPurpose, owner: string): Buffer {
  return Buffer.concat([header, Buffer.from(`${purpose}\0${owner}`)]);
}

function toSealKey({ id, bytes }: { id: string; bytes: Uint8Array }): SealKey {
  return { id: Buffer.from(id, 'hex'), bytes };
}
