import { bech32m } from '@scure/base';
import { readBase64 } from '../../../core/protocol/base64.js';

/** Bytes of an account's secret: the seed of its Ed25519 key (RFC 8032). */
export const ACCOUNT_SECRET_BYTES = 32;

const PREFIX = 'gatekey';
/** The form before the checksum: 43 characters of base64url. */
const OLDER_FORM = /^[\w+/-]{43}=?$/;

/**
 * A text that is no device key. `checksum`: it has the form of one, with mistyped characters.
 * The message does not quote it: it may be a secret with one wrong character.
 */
export class DeviceKeyError extends TypeError {
  override readonly name = 'DeviceKeyError';

  constructor(readonly reason: 'form' | 'checksum') {
    super(
      reason === 'checksum'
        ? 'This device key has a typing mistake: its checksum does not match.'
        : "This isn't a device key. Keys start with gatekey1; older ones have 43 characters.",
    );
  }
}

/** The device key is not that of the account. */
export class OtherAccountKey extends Error {
  override readonly name = 'OtherAccountKey';

  constructor() {
    super('This is not the device key of this account.');
  }
}

/**
 * The text form of an account's secret, for people: bech32m (BIP 350), whose checksum finds up to
 * four mistyped characters.
 *
 * @param secret 32 bytes
 * @returns 66 characters that begin with `gatekey1`
 */
export function formatDeviceKey(secret: Uint8Array): string {
  if (secret.length !== ACCOUNT_SECRET_BYTES) {
    throw new DeviceKeyError('form');
  }
  return bech32m.encode(PREFIX, bech32m.toWords(secret));
}

/**
 * Reads the result of {@link formatDeviceKey}, also in the groups of a printed sheet, or the older
 * form of 43 base64url characters.
 *
 * @throws DeviceKeyError
 */
export function parseDeviceKey(text: string): Uint8Array<ArrayBuffer> {
  if (OLDER_FORM.test(text)) {
    const secret = readBase64(text, ACCOUNT_SECRET_BYTES, ACCOUNT_SECRET_BYTES);
    if (secret !== null) {
      return secret;
    }
  }
  const characters = text.replaceAll(/\s/g, '');
  const hasPrefix = characters.toLowerCase().startsWith(`${PREFIX}1`);
  try {
    const { prefix, words } = bech32m.decode(characters as `${string}1${string}`);
    const secret = Uint8Array.from(bech32m.fromWords(words));
    if (prefix === PREFIX && secret.length === ACCOUNT_SECRET_BYTES) {
      return secret;
    }
  } catch {
    throw new DeviceKeyError(hasPrefix ? 'checksum' : 'form');
  }
  throw new DeviceKeyError('form');
}
