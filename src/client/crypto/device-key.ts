import { base64UrlOf, bytesOfBase64 } from './base64.js';
import { checkLoginChallenge } from './login-challenge.js';

const ALGORITHM = 'Ed25519';
const SECRET_BYTES = 32;
/** The bytes before the secret in PKCS #8 (RFC 8410, 7). */
const PKCS8_HEAD = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/** A stored device key: an Ed25519 JWK (RFC 8037), both parts unpadded base64url. */
export interface DeviceKeyJwk {
  readonly kty: 'OKP';
  readonly crv: typeof ALGORITHM;
  /** The raw public key. */
  readonly x: string;
  /** The secret: it gives full access to the account. */
  readonly d: string;
}

type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The key of an account, by Web Crypto: the same in Node and in browsers. */
export class DeviceKey {
  private constructor(
    private readonly jwk: DeviceKeyJwk,
    private readonly key: SigningKey,
  ) {}

  static async generate(): Promise<DeviceKey> {
    const pair = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    if (!('privateKey' in pair)) {
      throw new Error('This platform does not make Ed25519 key pairs');
    }
    const { x = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey);
    return new DeviceKey({ kty: 'OKP', crv: ALGORITHM, x, d }, pair.privateKey);
  }

  /** Rejects when the parts are not an Ed25519 key. */
  static async fromJwk(jwk: DeviceKeyJwk): Promise<DeviceKey> {
    const { kty, crv, x, d } = jwk;
    const key = await crypto.subtle.importKey('jwk', { kty, crv, x, d }, ALGORITHM, false, [
      'sign',
    ]);
    return new DeviceKey({ kty, crv, x, d }, key);
  }

  /**
   * From {@link DeviceKey.secret} alone.
   *
   * @throws TypeError where it is not 32 bytes of base64
   */
  static async fromSecret(secret: string): Promise<DeviceKey> {
    const isBase64 = /^[\w+/-]{43}=?$/.test(secret);
    const bytes = isBase64 ? bytesOfBase64(secret.replace('=', '')) : [];
    if (bytes.length !== SECRET_BYTES) {
      throw new TypeError('This is no secret of a device key: it has 43 letters and digits.');
    }
    const pkcs8 = Uint8Array.from([...PKCS8_HEAD, ...bytes]);
    const key = await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign']);
    const { x = '', d = '' } = await crypto.subtle.exportKey('jwk', key);
    return new DeviceKey({ kty: 'OKP', crv: ALGORITHM, x, d }, key);
  }

  /** All that is needed to log in again: 43 characters of base64url. */
  get secret(): string {
    return this.jwk.d;
  }

  /** The raw 32 bytes in base64url, as `POST /v1/auth` takes them. */
  get publicKey(): string {
    return this.jwk.x;
  }

  /** Contains the secret: store it where only its owner can read. */
  toJwk(): DeviceKeyJwk {
    return this.jwk;
  }

  /**
   * Signs a challenge of `POST /v1/auth/challenge`, and nothing else: a server could use other signed
   * bytes to log in elsewhere.
   *
   * @param challenge base64, standard or url-safe
   * @param serverUrl the address that the client sends its requests to
   * @returns the 64-byte signature in base64url
   * @throws ChallengeRefused where {@link checkLoginChallenge} does
   */
  async signChallenge(challenge: string, serverUrl: string): Promise<string> {
    const bytes = checkLoginChallenge(challenge, serverUrl);
    const signature = await crypto.subtle.sign(ALGORITHM, this.key, bytes);
    return base64UrlOf(new Uint8Array(signature));
  }
}
