import { readBase64 } from '../../../core/protocol/base64.js';
import {
  LOGIN_CHALLENGE_VERSION,
  MAX_LOGIN_CHALLENGE_BYTES,
  readLoginChallenge,
} from '../../../core/protocol/login-challenge.js';
import { listsServer, otherServer } from './server-origins.js';

/** Devices whose clock is ahead can still sign in; the server enforces the expiry. */
const CLOCK_LEEWAY_MS = 5 * 60_000;

export type ChallengeRefusal =
  | 'not-a-challenge'
  | 'other-version'
  | 'expired'
  | 'other-server'
  | 'no-challenge';

/**
 * A challenge that this client does not sign; nothing was sent. With `other-server` the server may be
 * relaying the challenge of another one, to sign in there as this account.
 */
export class ChallengeRefused extends Error {
  override readonly name = 'ChallengeRefused';

  constructor(
    readonly reason: ChallengeRefusal,
    /** As configured in the client. */
    readonly serverUrl: string,
    message: string,
  ) {
    super(message);
  }
}

/** @param serverUrl of a server without `POST /v1/auth/challenge` */
export function noServerChallenge(serverUrl: string): ChallengeRefused {
  return new ChallengeRefused(
    'no-challenge',
    serverUrl,
    `${serverUrl} gives no challenge. If it is an older server, allow a challenge of this client: ` +
      '--older-server, or allowClientChallenge in the kit.',
  );
}

/**
 * Decodes a challenge of `POST /v1/auth/challenge` and checks that a client may sign it: its text
 * is of this version, has not expired and lists the origin of `serverUrl` (contract, Sign-up and
 * login with a device key). One that lists no origin passes from a loopback or private address.
 *
 * @param challenge base64, standard or url-safe
 * @param serverUrl the address that the client sends its requests to
 * @returns the bytes to sign
 * @throws ChallengeRefused
 */
export function checkLoginChallenge(
  challenge: string,
  serverUrl: string,
  now: number = Date.now(),
): Uint8Array<ArrayBuffer> {
  const refuse = (reason: ChallengeRefusal, message: string): ChallengeRefused =>
    new ChallengeRefused(reason, serverUrl, `${message} Nothing was signed.`);
  const bytes = readBase64(challenge, 1, MAX_LOGIN_CHALLENGE_BYTES);
  const verdict = readLoginChallenge(bytes === null ? '' : String.fromCharCode(...bytes));
  if (bytes === null || verdict.kind === 'other-form') {
    throw refuse(
      'not-a-challenge',
      `${serverUrl} sent a challenge of a form that this client does not sign: its version may be older.`,
    );
  }
  if (verdict.kind === 'other-version') {
    const wanted = `This client signs ${LOGIN_CHALLENGE_VERSION} only`;
    throw refuse('other-version', `${wanted}, and ${serverUrl} sent another version.`);
  }
  const { origins, expiresAt } = verdict.challenge;
  if (expiresAt + CLOCK_LEEWAY_MS <= now) {
    throw refuse(
      'expired',
      `${serverUrl} sent a challenge that has expired. Check the time of this device.`,
    );
  }
  if (!listsServer(origins, serverUrl)) {
    throw refuse('other-server', otherServer('The challenge', serverUrl, origins));
  }
  return bytes;
}
