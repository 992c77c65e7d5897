import { base64UrlOf, randomBytes, utf8Bytes } from '../../../packages/client/crypto/bytes.js';
import { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { readBase64 } from '../../../core/protocol/base64.js';
import { brand } from '../brand.js';
import { discardPasskey, type KeptKey } from './tab-state.js';

/**
 * The passkeys that this browser can encrypt with: of the device or its password manager, or of a
 * security key alone. `address` = none, because the page is at an IP address; `none` = none at all.
 */
export type PasskeySupport = 'device' | 'security-key' | 'address' | 'none';

/** Bytes that are encrypted for a passkey. */
export type PasskeySeal = Omit<KeptKey, 'accountId'>;

/** A passkey that was not used. `unsuitable` = it can sign in, but computes no secret. */
export class PasskeyProblem extends Error {
  override readonly name = 'PasskeyProblem';

  constructor(
    readonly reason: 'cancelled' | 'unsuitable' | 'damaged',
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

const SALT_BYTES = 32;
const IV_BYTES = 12;
const MAX_FIELD_BYTES = 1024;
/** Separates this use of the passkey from any later one. */
const PURPOSE = 'gatehouse.kept-key.v1';
/** ES256, EdDSA and RS256: one of them is in every authenticator. */
const ALGORITHMS = [-7, -8, -257];
const IP_ADDRESS = /^[\d.]+$|^\[/;

export async function passkeySupport(): Promise<PasskeySupport> {
  const { PublicKeyCredential: passkeys } = window as {
    readonly PublicKeyCredential?: Partial<typeof PublicKeyCredential>;
  };
  const can = (await passkeys?.getClientCapabilities?.()) ?? {};
  if (can['extension:prf'] !== true) {
    return 'none';
  }
  if (IP_ADDRESS.test(location.hostname)) {
    return 'address';
  }
  const isOwn = can['passkeyPlatformAuthenticator'] || can['userVerifyingPlatformAuthenticator'];
  return isOwn ? 'device' : 'security-key';
}

/**
 * Creates a passkey, and encrypts the bytes of a key with its secret. Rejects with {@link PasskeyProblem}.
 *
 * @param context of the bytes: they open with the same one only
 * @param name of the passkey, for the password manager
 */
export async function sealBytesWithPasskey(
  bytes: Uint8Array<ArrayBuffer>,
  context: string,
  name: string,
): Promise<PasskeySeal> {
  const salt = randomBytes(SALT_BYTES);
  const created = await createPasskey(salt, name);
  const credentialId = base64UrlOf(new Uint8Array(created.rawId));
  try {
    // Security keys compute the secret only for a passkey that exists (CTAP 2.1, hmac-secret).
    const { prf } = created.getClientExtensionResults();
    if (prf?.enabled !== true) {
      throw new PasskeyProblem('unsuitable');
    }
    const secret = prf.results?.first ?? (await secretOf(created.rawId, salt));
    const iv = randomBytes(IV_BYTES);
    const algorithm = { name: 'AES-GCM', iv, additionalData: bytesOfText(context) };
    const wrapping = await wrappingKey(secret, 'encrypt');
    const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, wrapping, bytes));
    const texts = { salt: base64UrlOf(salt), iv: base64UrlOf(iv), sealed: base64UrlOf(sealed) };
    return { credentialId, ...texts };
  } catch (error) {
    discardPasskey(credentialId);
    throw error;
  }
}

/** Asks for the passkey. Rejects with {@link PasskeyProblem}. */
export async function openWithPasskey({ accountId, ...kept }: KeptKey): Promise<DeviceKey> {
  return DeviceKey.fromSecret(await openBytesWithPasskey(kept, accountId));
}

/** As {@link openWithPasskey}, for what {@link sealBytesWithPasskey} returned. */
export async function openBytesWithPasskey(
  kept: PasskeySeal,
  context: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const secret = await secretOf(bytesOf(kept.credentialId), bytesOf(kept.salt));
  const additionalData = bytesOfText(context);
  const algorithm = { name: 'AES-GCM', iv: bytesOf(kept.iv), additionalData };
  const wrapping = await wrappingKey(secret, 'decrypt');
  try {
    const sealed = bytesOf(kept.sealed);
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, wrapping, sealed));
  } catch (error) {
    throw new PasskeyProblem('damaged', { cause: error });
  }
}

/** The server never sees this passkey, so nothing verifies its challenge. */
function createPasskey(salt: Uint8Array<ArrayBuffer>, name: string): Promise<PublicKeyCredential> {
  const publicKey: PublicKeyCredentialCreationOptions = {
    challenge: randomBytes(SALT_BYTES),
    rp: { name: brand.name },
    user: { id: randomBytes(SALT_BYTES), name, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    extensions: { prf: { eval: { first: salt } } },
  };
  return usePasskey(navigator.credentials.create({ publicKey }));
}

async function secretOf(id: BufferSource, salt: BufferSource): Promise<BufferSource> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    challenge: randomBytes(SALT_BYTES),
    allowCredentials: [{ type: 'public-key', id }],
    userVerification: 'required',
    extensions: { prf: { eval: { first: salt } } },
  };
  const used = await usePasskey(navigator.credentials.get({ publicKey }));
  const secret = used.getClientExtensionResults().prf?.results?.first;
  if (secret === undefined) {
    throw new PasskeyProblem('unsuitable');
  }
  return secret;
}

async function usePasskey(request: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await request) as PublicKeyCredential;
  } catch (error) {
    const isRefused = error instanceof DOMException && error.name === 'NotAllowedError';
    throw new PasskeyProblem(isRefused ? 'cancelled' : 'unsuitable', { cause: error });
  }
}

async function wrappingKey(secret: BufferSource, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    // The secret is uniform, and is used for this purpose alone.
    salt: new Uint8Array(),
    info: bytesOfText(PURPOSE),
  };
  const algorithm = { name: 'AES-GCM', length: 256 };
  return crypto.subtle.deriveKey(derivation, material, algorithm, false, [use]);
}

function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(utf8Bytes(text));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = readBase64(text, 1, MAX_FIELD_BYTES);
  if (bytes === null) {
    throw new PasskeyProblem('damaged');
  }
  return bytes;
}
