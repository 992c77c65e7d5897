import { createPublicKey, verify } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError, invalidRequest } from '../../common/errors.js';
import { encryptionConfig } from '../../config/encryption.config.js';
import { INVITATION } from '../../policy/admission/admission.js';
import {
  readPublicKey,
  readSignedChallenge,
  type SentProof,
  type SignedChallenge,
} from '../../policy/admission/device-key.js';
import { newKeyedAccountMode } from '../../policy/admission/encryption.js';
import { Admission } from '../../auth/admission.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import type { Query } from '../../storage/database.js';
import {
  SessionRepository,
  type LoggedInAccount,
  type NewSession,
} from '../../storage/repositories/session.repository.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuer, type Login } from '../../auth/sessions/session-issuer.js';
import type { DeviceKeyLoginDto, SignedChallengeDto } from './device-key.dto.js';
import { InvitedSignup } from './invited-signup.js';
import { LoginChallenges } from './login-challenges.js';

/** Sign-up and login with a device key (contract, Sign-up and login with a device key). */
@Injectable()
export class DeviceKeyService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionRepository,
    private readonly challenges: LoginChallenges,
    private readonly issuer: SessionIssuer,
    private readonly admission: Admission,
    private readonly invited: InvitedSignup,
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
  ) {}

  /**
   * Logs in, creating the account at the first login of its key.
   *
   * @throws AppError `signup-disabled`, `not-found` where `create` is false, `account-disabled`, and
   *   what {@link prove} and {@link InvitedSignup.create} throw
   */
  async logIn(body: DeviceKeyLoginDto, origin: LoginOrigin): Promise<Login> {
    const publicKey = await this.prove(body);
    const session = this.issuer.prepare('key_challenge', origin);
    const { account, created } = await this.begin(publicKey, session, () =>
      this.signUp(body, publicKey, session),
    );
    return this.issuer.answer(account, session, created);
  }

  /**
   * Checks that the caller has the private key; uses up the challenge.
   *
   * @returns the raw public key
   * @throws AppError `invalid-public-key`, `invalid-signature`, `challenge-required`,
   *   `challenge-expired`
   */
  async prove(body: SignedChallengeDto): Promise<Buffer> {
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
   * first logins of one key both succeed, with one account.
   *
   * @param signUp {@link create}s the account of a new key, or throws where it may not have one
   * @param query of the caller's transaction, if any
   */
  async begin(
    publicKey: Buffer,
    session: NewSession,
    signUp: () => Promise<string | null>,
    query?: Query,
  ): Promise<{ readonly account: LoggedInAccount; readonly created: boolean }> {
    const known = await this.sessions.logInByKey(publicKey, session, query);
    if (known !== null) {
      return { account: known, created: false };
    }
    const id = await signUp();
    if (id !== null) {
      return { account: { id, isDisabled: false, sessions: 0 }, created: true };
    }
    const other = await this.sessions.logInByKey(publicKey, session, query);
    if (other === null) {
      throw new AppError('unavailable');
    }
    return { account: other, created: false };
  }

  /**
   * Makes the account of a key with its first session.
   *
   * @param query of the caller's transaction, if any
   * @returns its id; null when another login of the same key was first
   */
  create(publicKey: Buffer, session: NewSession, query?: Query): Promise<string | null> {
    const mode = newKeyedAccountMode(this.encryption);
    return this.accounts.createKeyed(publicKey, mode, session, query);
  }

  private async signUp(
    { create = true, invitation }: DeviceKeyLoginDto,
    publicKey: Buffer,
    session: NewSession,
  ): Promise<string | null> {
    if (!create) {
      throw new AppError('not-found');
    }
    const isInvited = typeof invitation === 'string' && invitation !== '';
    if (isInvited && this.admission.allows(INVITATION, 'provision', 'keyed')) {
      return this.invited.create(invitation, publicKey, session);
    }
    this.admission.require('key_challenge', 'provision', 'keyed');
    return this.create(publicKey, session);
  }
}

/** @throws AppError `invalid-public-key` */
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

/** Verifies the Ed25519 signature. A JWK is imported ten times faster than SPKI (OpenSSL 3). */
function isGenuine({ publicKey, challenge, signature }: SignedChallenge): boolean {
  try {
    const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
    return verify(null, challenge, createPublicKey({ key, format: 'jwk' }), signature);
  } catch {
    // Bytes that are no point of the curve cannot have signed anything.
    return false;
  }
}
