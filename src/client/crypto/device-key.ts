import {
  ACCOUNT_SECRET_BYTES,
  DeviceKeyError,
  formatDeviceKey,
  parseDeviceKey,
} from './key-text.js';
import { base64UrlOf, randomBytes, readBase64 } from './bytes.js';
import { publicKeyOf, signWith } from './ed25519.js';
import { checkLoginChallenge } from './login-challenge.js';

const CURVE = 'Ed25519';

/** A stored device key: an Ed25519 JWK (RFC 8037), both parts unpadded base64url. */
export interface DeviceKeyJwk {
  readonly kty: 'OKP';
  readonly crv: typeof CURVE;
  /** The raw public key. */
  readonly x: string;
  /** The secret: it gives full access to the account. */
  readonly d: string;
}

/** The key of an account: Ed25519 in every engine, with Web Crypto or without. */
export class DeviceKey {
  private constructor(
    private readonly seed: Uint8Array<ArrayBuffer>,
    /** The raw 32 bytes in base64url, as `POST /v1/auth` takes them. */
    readonly publicKey: string,
  ) {}

  /** Rejects where the platform has no `crypto.getRandomValues`. */
  static async generate(): Promise<DeviceKey> {
    return DeviceKey.fromSecret(randomBytes(ACCOUNT_SECRET_BYTES));
  }

  /** Rejects with {@link DeviceKeyError} where the parts are not one Ed25519 key. */
  static async fromJwk({ kty, crv, x, d }: DeviceKeyJwk): Promise<DeviceKey> {
    const seed = readBase64(d, ACCOUNT_SECRET_BYTES, ACCOUNT_SECRET_BYTES);
    const key = seed === null ? null : await DeviceKey.fromSecret(seed);
    if (key?.publicKey !== x || kty !== 'OKP' || crv !== CURVE) {
      throw new DeviceKeyError('form');
    }
    return key;
  }

  /**
   * From {@link DeviceKey.secret}, from the older form of it (43 characters of base64url), or from
   * the bytes that `openSealedSecret` returns. Rejects with {@link DeviceKeyError}.
   */
  static async fromSecret(secret: string | Uint8Array): Promise<DeviceKey> {
    const seed = typeof secret === 'string' ? parseDeviceKey(secret) : Uint8Array.from(secret);
    if (seed.length !== ACCOUNT_SECRET_BYTES) {
      throw new DeviceKeyError('form');
    }
    return new DeviceKey(seed, base64UrlOf(await publicKeyOf(seed)));
  }

  /** All that is needed to log in again, for people: `gatekey1…`, with a checksum. */
  get secret(): string {
    return formatDeviceKey(this.seed);
  }

  /** The same as 32 bytes: for `AccountContent` and `sealForDevice`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.seed.slice();
  }

  /** Contains the secret: store it where only its owner can read. */
  toJwk(): DeviceKeyJwk {
    return { kty: 'OKP', crv: CURVE, x: this.publicKey, d: base64UrlOf(this.seed) };
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
    return base64UrlOf(await signWith(this.seed, bytes));
  }
}
