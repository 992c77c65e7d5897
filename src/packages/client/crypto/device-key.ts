import { readBase64 } from '../../../core/protocol/base64.js';
import {
  ACCOUNT_SECRET_BYTES,
  DeviceKeyError,
  formatDeviceKey,
  parseDeviceKey,
} from './key-text.js';
import type { SignedLogin } from '../api/api-client-answers.js';
import { base64UrlOf, randomBytes } from './bytes.js';
import { hideFromLogs } from '../hide-from-logs.js';
import { publicKeyOf, signWith } from './ed25519.js';
import { checkLoginChallenge, noServerChallenge } from './login-challenge.js';

const CURVE = 'Ed25519';
const OWN_CHALLENGE_BYTES = 32;

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
  ) {
    hideFromLogs(this, 'seed');
  }

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

  /** All that is needed to sign in again, for people: `gatekey1…`, with a checksum. */
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
   * bytes to sign in elsewhere.
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

  /**
   * Proves the key for a login.
   *
   * @param challenge of the server; null = it has no `POST /v1/auth/challenge`
   * @param allowClientChallenge signs random bytes of this key where the server gives no challenge
   * @throws ChallengeRefused `no-challenge`, and as {@link signChallenge}
   */
  async signLogin(
    challenge: string | null,
    serverUrl: string,
    allowClientChallenge: boolean,
  ): Promise<SignedLogin> {
    const { publicKey } = this;
    if (challenge !== null) {
      return { publicKey, challenge, signature: await this.signChallenge(challenge, serverUrl) };
    }
    if (!allowClientChallenge) {
      throw noServerChallenge(serverUrl);
    }
    const bytes = randomBytes(OWN_CHALLENGE_BYTES);
    const signature = base64UrlOf(await signWith(this.seed, bytes));
    return { publicKey, challenge: base64UrlOf(bytes), signature };
  }
}
