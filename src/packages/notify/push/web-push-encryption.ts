import { createCipheriv, createECDH, hkdfSync, randomBytes, type ECDH } from 'node:crypto';
import type { WebPushSubscription } from '../../client/notifications/web-push.js';

/** Size of the whole body: a push service need not accept more (RFC 8030, 7.2). */
const RECORD_BYTES = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const SECRET_BYTES = 32;
/** Delimiter of the last record (RFC 8188, 2). */
const LAST_RECORD = Buffer.from([2]);

export const WEB_PUSH_BUDGET_BYTES = 3993;

/** Random values; only tests pass fixed ones. */
export interface EncryptionSecrets {
  readonly salt: Buffer;
  /** A P-256 key pair for one message. */
  readonly ephemeral: ECDH;
}

/**
 * Encrypts by Node's own cryptography (RFC 8291), because `web-push` does not load with Node 25.
 *
 * @returns the body of the request, of content coding `aes128gcm`
 * @throws RangeError for a text of more than {@link WEB_PUSH_BUDGET_BYTES}
 */
export function encryptWebPush(
  text: Uint8Array,
  { keys }: WebPushSubscription,
  { salt, ephemeral }: EncryptionSecrets = freshSecrets(),
): Buffer {
  if (text.length > WEB_PUSH_BUDGET_BYTES) {
    throw new RangeError(`A message of more than ${WEB_PUSH_BUDGET_BYTES} bytes`);
  }
  const browserKey = Buffer.from(keys.p256dh, 'base64url');
  const senderKey = ephemeral.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browserKey, senderKey]);
  const shared = ephemeral.computeSecret(browserKey);
  const secret = derive(shared, Buffer.from(keys.auth, 'base64url'), info, SECRET_BYTES);
  const derived = (coding: string, byteLength: number): Buffer =>
    derive(secret, salt, Buffer.from(`Content-Encoding: ${coding}\0`), byteLength);
  const nonce = derived('nonce', NONCE_BYTES);
  const cipher = createCipheriv('aes-128-gcm', derived('aes128gcm', KEY_BYTES), nonce);
  const sealed = [cipher.update(text), cipher.update(LAST_RECORD), cipher.final()];
  return Buffer.concat([header(salt, senderKey), ...sealed, cipher.getAuthTag()]);
}

function freshSecrets(): EncryptionSecrets {
  const ephemeral = createECDH('prime256v1');
  ephemeral.generateKeys();
  return { salt: randomBytes(SALT_BYTES), ephemeral };
}

function derive(secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length));
}

function header(salt: Buffer, senderKey: Buffer): Buffer {
  const lengths = Buffer.alloc(5);
  lengths.writeUInt32BE(RECORD_BYTES);
  lengths.writeUInt8(senderKey.length, 4);
  return Buffer.concat([salt, lengths, senderKey]);
}
