import {
  AEAD_ChaCha20Poly1305,
  KDF_HKDF_SHA256,
  KEM_DHKEM_X25519_HKDF_SHA256,
} from '@panva/hpke-noble';
import { CipherSuite } from 'hpke';
import { readBase64 } from '../../protocol/base64.js';
import { base64UrlOf, requireRandom, utf8Bytes } from './bytes.js';
import { makeLoginProof, type LoginProof } from './login-proof.js';

const KEY_BYTES = 32;
const TAG_BYTES = 16;
const MAX_SEALED_BYTES = 1024;
const INFO = utf8Bytes('gatehouse device v1');

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
  /** The secret key, which opens the account's secret. Same encoding. */
  readonly privateKey: string;
}

/**
 * A secret could not be sealed or opened: `invalid-key` for a public key that is no X25519 key,
 * `not-for-this-device` for one sealed to another key, or modified.
 */
export class DeviceSealError extends Error {
  override readonly name = 'DeviceSealError';

  constructor(
    readonly reason: 'invalid-key' | 'not-for-this-device',
    options?: ErrorOptions,
  ) {
    super(
      reason === 'invalid-key'
        ? 'This is no key of a device.'
        : 'The account was not sealed to this device.',
      options,
    );
  }
}

/** Generates what a new device needs: an X25519 key pair and a proof. */
export async function makeDeviceSecrets(): Promise<DeviceSecrets> {
  requireRandom();
  const { publicKey, privateKey } = await DEVICE_SUITE.GenerateKeyPair(true);
  return {
    ...(await makeLoginProof()),
    publicKey: base64UrlOf(await DEVICE_SUITE.SerializePublicKey(publicKey)),
    privateKey: base64UrlOf(await DEVICE_SUITE.SerializePrivateKey(privateKey)),
  };
}

/**
 * Seals an account's secret to a new device: `enc || ct` of RFC 9180, 5.1.1, in base64url. The server
 * relays it, and cannot open it.
 *
 * @param publicKey of the QR code, or one whose check words were compared
 * @throws DeviceSealError `invalid-key`
 */
export async function sealForDevice(publicKey: string, secret: Uint8Array): Promise<string> {
  const raw = readBase64(publicKey, KEY_BYTES, KEY_BYTES);
  if (raw === null) {
    throw new DeviceSealError('invalid-key');
  }
  requireRandom();
  try {
    const key = await DEVICE_SUITE.DeserializePublicKey(raw);
    const sent = await DEVICE_SUITE.Seal(key, Uint8Array.from(secret), { info: INFO });
    return base64UrlOf(Uint8Array.from([...sent.encapsulatedSecret, ...sent.ciphertext]));
  } catch (cause) {
    throw new DeviceSealError('invalid-key', { cause });
  }
}

/**
 * Opens the result of {@link sealForDevice} with the device's own keys.
 *
 * @throws DeviceSealError `not-for-this-device`
 */
export async function openSealedSecret(
  { privateKey }: Pick<DeviceSecrets, 'privateKey'>,
  sealed: string,
): Promise<Uint8Array> {
  const bytes = readBase64(sealed, KEY_BYTES + TAG_BYTES, MAX_SEALED_BYTES);
  const raw = readBase64(privateKey, KEY_BYTES, KEY_BYTES);
  if (bytes === null || raw === null) {
    throw new DeviceSealError('not-for-this-device');
  }
  try {
    const key = await DEVICE_SUITE.DeserializePrivateKey(raw, false);
    const [enc, ciphertext] = [bytes.slice(0, KEY_BYTES), bytes.slice(KEY_BYTES)];
    return await DEVICE_SUITE.Open(key, enc, ciphertext, { info: INFO });
  } catch (cause) {
    throw new DeviceSealError('not-for-this-device', { cause });
  }
}
