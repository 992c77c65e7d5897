import { Injectable } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuerService, type Login } from '../../auth/sessions/session-issuer.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { DatabaseService, type Transaction } from '../../storage/database.service.js';
import { KeylessRepository } from '../../storage/repositories/keyless.repository.js';
import type { LoggedInAccount, NewSession } from '../../storage/repositories/session.repository.js';
import { KeylessAccountService, type ResolvedIdentity } from './keyless-account.service.js';
import { standsOnLastAnswer, type KeylessIdentity } from './keyless-identity.js';

/** A login decided in a transaction; {@link KeylessLoginService.finish} answers it after the commit. */
interface KeylessSession extends ResolvedIdentity {
  readonly account: LoggedInAccount;
  readonly session: NewSession;
}

/** A verdict younger than this is not stored again at every login. */
const FRESH_MS = 30_000;

@Injectable()
export class KeylessLoginService {
  constructor(
    private readonly database: DatabaseService,
    private readonly keyless: KeylessRepository,
    private readonly accounts: KeylessAccountService,
    private readonly issuer: SessionIssuerService,
    private readonly admission: AdmissionService,
    private readonly clock: Clock,
  ) {}

  /** Runs one statement when nothing about the identity changed. */
  async logIn(identity: KeylessIdentity, origin: LoginOrigin): Promise<Login> {
    const lastAnswerStands = standsOnLastAnswer(identity);
    if (!lastAnswerStands) {
      await this.accounts.check(identity, origin.address);
    }
    const { provider, subject, login, authority, credentials, certificate } = identity;
    if (authority === null && credentials === null) {
      this.admission.require(provider, 'login', 'keyless');
      const session = this.issuer.prepare(provider, origin, identity);
      const freshAfter = new Date(lastAnswerStands ? 0 : this.clock.now() - FRESH_MS);
      const fingerprint = certificate?.facts.fingerprint ?? null;
      const plainLogin = { provider, subject, login, fingerprint, freshAfter, session };
      const known = await this.keyless.logIn(plainLogin);
      if (known !== null) {
        return this.issuer.answer(known, session, false);
      }
    }
    const started = await this.database.transaction((tx) =>
      this.startSession(tx, identity, origin),
    );
    return this.finish(started);
  }

  /** Begins no session. @returns true if the account was created */
  async provision(identity: KeylessIdentity): Promise<boolean> {
    await this.accounts.check(identity, null);
    const resolved = await this.database.transaction((tx) => this.accounts.resolve(tx, identity));
    this.accounts.announce(resolved);
    return resolved.created;
  }

  /** Decides and stores the session in the transaction of the caller. */
  async startSession(
    tx: Transaction,
    identity: KeylessIdentity,
    origin: LoginOrigin,
  ): Promise<KeylessSession> {
    const resolved = await this.accounts.resolve(tx, identity);
    const session = this.issuer.prepare(identity.provider, origin, identity);
    const account = await this.issuer.begin(resolved.accountId, session, tx);
    return { ...resolved, account, session };
  }

  /** Call it after the commit. */
  finish(login: KeylessSession): Promise<Login> {
    this.accounts.announce(login);
    return this.issuer.answer(login.account, login.session, login.created);
  }
}
