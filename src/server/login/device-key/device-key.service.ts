import { createPublicKey, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, invalidRequest, orRefuse } from '../../../common/errors.js';
import {
  readPublicKey,
  readSignedChallenge,
  type SentProof,
  type SignedChallenge,
} from '../../../core/protocol/device-key.js';
import type { Transaction } from '../../storage/database.service.js';
import {
  SessionRepository,
  type LoggedInAccount,
  type NewSession,
} from '../../storage/repositories/session.repository.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuerService, type Login } from '../../auth/sessions/session-issuer.service.js';
import type { DeviceKeyLoginDto, SignedChallengeDto } from './device-key.dto.js';
import { KeyedSignupService } from './keyed-signup.service.js';
import { LoginChallengeService } from './login-challenge.service.js';

@Injectable()
export class DeviceKeyService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly challenges: LoginChallengeService,
    private readonly signups: KeyedSignupService,
    private readonly issuer: SessionIssuerService,
  ) {}

  /**
   * Signs in, creating the account at the first login of its key.
   * @throws AppError `account-disabled`, and as {@link verify} and {@link
   * KeyedSignupService.signUp}
   */
  async logIn(body: DeviceKeyLoginDto, origin: LoginOrigin): Promise<Login> {
    const publicKey = await this.verify(body);
    const session = this.issuer.prepare('key_challenge', origin);
    const { account, created } = await this.begin(publicKey, session, () =>
      this.signups.signUp(body, publicKey, session),
    );
    return this.issuer.answer(account, session, created);
  }

  /** Uses up the challenge. @returns the raw public key */
  async verify(body: SignedChallengeDto): Promise<Buffer> {
    const proof = readSignedChallenge(body);
    if (typeof proof === 'string') {
      throw malformed(proof);
    }
    if (!isGenuine(proof)) {
      throw new AppError('invalid-signature');
    }
    await this.challenges.consume(proof.challenge);
    return proof.publicKey;
  }

  /**
   * Stores the session of a proven key, creating its account where it has none. Of two concurrent
   * first logins both succeed, with one account.
   * @param signUp creates the account, or throws where the key may not have one
   */
  async begin(
    publicKey: Buffer,
    session: NewSession,
    signUp: () => Promise<string | null>,
    tx?: Transaction,
  ): Promise<{ readonly account: LoggedInAccount; readonly created: boolean }> {
    const known = await this.sessions.logInByKey(publicKey, session, tx);
    if (known !== null) {
      return { account: known, created: false };
    }
    const id = await signUp();
    if (id !== null) {
      return { account: { id, isDisabled: false, sessions: 0 }, created: true };
    }
    const other = orRefuse(await this.sessions.logInByKey(publicKey, session, tx), 'unavailable');
    return { account: other, created: false };
  }
}

export function decodePublicKey(text: string): Buffer {
  const key = readPublicKey(text);
  if (key === null) {
    throw malformed('publicKey');
  }
  return key;
}

function malformed(part: keyof SentProof): AppError {
  switch (part) {
    case 'publicKey':
      return new AppError('invalid-public-key');
    case 'challenge':
      return invalidRequest('challenge', 'Send 1 to 1024 bytes in base64.');
    case 'signature':
      return new AppError('invalid-signature');
  }
}

/** A JWK is imported ten times faster than SPKI (OpenSSL 3). */
function isGenuine({ publicKey, challenge, signature }: SignedChallenge): boolean {
  try {
    const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
    return verify(null, challenge, createPublicKey({ key, format: 'jwk' }), signature);
  } catch {
    // Bytes that are no point of the curve cannot have signed anything.
    return false;
  }
}
