import { Inject, Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import type { EligibilityFacts, EligibilityVerdict } from '../../policy/eligibility.js';
import { judgeLink } from '../../policy/external-link.js';
import { isOfAuthority, type Authority } from '../../policy/identity-issuer.js';
import {
  judgeKeylessAccounts,
  judgeKeylessSignup,
  type KeylessDecision,
} from '../../policy/keyless.js';
import { nextCheckAt } from '../../policy/offboarding.js';
import { Database, type Query } from '../../storage/database.js';
import {
  IdentityRepository,
  type IdentityChange,
  type ProvenIdentity,
} from '../../storage/identity.repository.js';
import { KeylessRepository, type IdentityAccount } from '../../storage/keyless.repository.js';
import type { NewSession } from '../../storage/session-sql.js';
import type { LoggedInAccount } from '../../storage/session.repository.js';
import { LinkEffects } from '../external/link-effects.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import { SessionIssuer, type Login } from '../sessions/session-issuer.js';

/** Somebody who has just been named by a provider or a certificate, and shows no device key. */
export interface KeylessPerson {
  /** A configured provider's id, or `mtls`. */
  readonly provider: string;
  readonly subject: string;
  /** Who named them; null = a certificate. */
  readonly authority: Authority | null;
  readonly login: string | null;
  /** What the operator's rules say about them. */
  readonly eligibility: EligibilityVerdict;
  /** Whether the first login makes an account. */
  readonly autoProvision: boolean;
  /** What a re-check needs; null keeps what is stored. */
  readonly credentials: string | null;
  /** What the rules were judged on. Default: the login, and nothing else. */
  readonly facts?: EligibilityFacts;
  /** When they were named, Unix milliseconds. Default: now. */
  readonly checkedAt?: number;
}

/** The account of an identity, as a transaction found or made it. */
interface AdmittedPerson {
  readonly accountId: string;
  readonly provider: string;
  readonly created: boolean;
  readonly change: IdentityChange | null;
}

/** A login that a transaction decided, and {@link KeylessLogin.finish} answers after it. */
export interface KeylessSession extends AdmittedPerson {
  readonly account: LoggedInAccount;
  readonly session: NewSession;
}

/** Another first login can come between once, and its account be deleted before this one looks. */
const ATTEMPTS = 3;
/** A good answer that is younger than this is not stored again at every login. */
const FRESH_MS = 30_000;

/** Logs in to the account of an identity, without device keys, making it at the first login. */
@Injectable()
export class KeylessLogin {
  constructor(
    private readonly database: Database,
    private readonly keyless: KeylessRepository,
    private readonly identities: IdentityRepository,
    private readonly issuer: SessionIssuer,
    private readonly effects: LinkEffects,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * By one statement where nothing new is known about the identity.
   *
   * @throws AppError `keyless-disabled`, `e2ee-required`, `signup-provider-disabled`,
   *   `not-eligible`, `restore-required`, `account-disabled`, `unavailable`
   */
  async logIn(person: KeylessPerson, origin: LoginOrigin): Promise<Login> {
    await this.check(person);
    const { provider, subject, login, authority, credentials } = person;
    if (authority === null && credentials === null) {
      const session = this.issuer.prepare(provider, origin);
      const freshAfter = new Date(this.clock.now() - FRESH_MS);
      const plain = { provider, subject, login, freshAfter, session };
      const known = await this.keyless.logIn(plain);
      if (known !== null) {
        return this.issuer.answer(known, session, false);
      }
    }
    return this.finish(
      await this.database.transaction((query) => this.admit(query, person, origin)),
    );
  }

  /**
   * Finds or makes the account, and begins no session.
   *
   * @returns whether it was made
   * @throws AppError what {@link logIn} throws
   */
  async provision(person: KeylessPerson): Promise<boolean> {
    await this.check(person);
    const admitted = await this.database.transaction((query) => this.decide(query, person));
    this.announce(admitted);
    return admitted.created;
  }

  /**
   * Decides in the transaction of the caller, and stores the session in it.
   *
   * @throws AppError what {@link logIn} throws
   */
  async admit(query: Query, person: KeylessPerson, origin: LoginOrigin): Promise<KeylessSession> {
    const admitted = await this.decide(query, person);
    const session = this.issuer.prepare(person.provider, origin);
    const account = await this.issuer.begin(admitted.accountId, session, query);
    return { ...admitted, account, session };
  }

  /** Announces what changed and answers the login; call when the transaction is committed. */
  finish(login: KeylessSession): Promise<Login> {
    this.announce(login);
    return this.issuer.answer(login.account, login.session, login.created);
  }

  /** What the policy and the rules say; a refusal of an identity that is known here is stored. */
  private async check(person: KeylessPerson): Promise<void> {
    const { provider, eligibility } = person;
    this.checkPolicy(provider);
    if (eligibility.status === 'ineligible') {
      await this.storeRefusal(person, eligibility.reason);
    }
    checkEligible(person);
  }

  private async decide(query: Query, person: KeylessPerson): Promise<AdmittedPerson> {
    const { provider } = person;
    this.checkPolicy(provider);
    checkEligible(person);
    const proven = this.toProven(person);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const known = await this.keyless.lock(query, person);
      if (known !== null) {
        if (!isOfAuthority(known.identity.issuer, person.authority)) {
          throw this.effects.refuseForeign(provider, known.identity.issuer);
        }
        checkOpen(known, provider);
        const change = await this.refresh(query, known, proven);
        return { accountId: known.account.id, provider, created: false, change };
      }
      refuseUnless(judgeKeylessSignup(person.autoProvision), provider);
      const accountId = await this.keyless.create(query, proven, new Date(this.clock.now()));
      if (accountId !== null) {
        return { accountId, provider, created: true, change: null };
      }
    }
    throw new AppError('unavailable', { provider });
  }

  private announce({ accountId, provider, created, change }: AdmittedPerson): void {
    if (change !== null) {
      this.effects.announce(change);
    }
    if (created) {
      this.audit.tell({ kind: 'identity-linked', actor: 'user', accountId, provider });
    }
  }

  private checkPolicy(provider: string): void {
    const { encryption, keyless } = this.settings;
    const { storagePolicy } = encryption;
    const facts = { storagePolicy, keylessAccountsEnabled: keyless.accountsEnabled };
    refuseUnless(judgeKeylessAccounts(facts), provider);
  }

  /** Whoever is known here loses access with it. */
  private async storeRefusal(person: KeylessPerson, reason: string): Promise<void> {
    const change = await this.identities.recordRefusal(this.toProven(person), reason);
    if (change !== null) {
      this.effects.announce(change, 'not-eligible', person.provider);
    }
  }

  private async refresh(
    query: Query,
    { account, identity }: IdentityAccount,
    proven: ProvenIdentity,
  ): Promise<IdentityChange | null> {
    const { provider, subject, authority, facts, checkedAt } = proven;
    const request = { accountId: account.id, subject, authority, login: facts.login };
    const decision = judgeLink({ ...request, checkedAt: checkedAt.getTime() }, [identity]);
    if (decision.kind !== 'refresh') {
      throw new AppError('not-eligible', { provider });
    }
    await this.identities.refresh(query, account.id, proven);
    if (decision.change === 'none') {
      return null;
    }
    const kind = 'eligibility-regained';
    const event = { kind, actor: 'provider', accountId: account.id, provider } as const;
    const told = decision.change === 'regained' ? event : null;
    return this.identities.noteChange(query, account.id, told, new Date(this.clock.now()));
  }

  private toProven(person: KeylessPerson): ProvenIdentity {
    const { provider, subject, authority, login, credentials } = person;
    const { offboarding } = this.settings.auth;
    const checkedAt = person.checkedAt ?? this.clock.now();
    const next = nextCheckAt(offboarding, checkedAt, Math.random());
    // Of a certificate nobody upstream can be asked.
    const isRechecked = offboarding.enabled && provider !== 'mtls';
    return {
      provider,
      subject,
      authority,
      facts: person.facts ?? factsOf(login),
      credentials,
      checkedAt: new Date(checkedAt),
      nextCheckAt: isRechecked ? new Date(next) : null,
    };
  }
}

/** @throws AppError `not-eligible`, or `unavailable` when nobody could tell */
function checkEligible({ provider, eligibility }: KeylessPerson): void {
  if (eligibility.status !== 'eligible') {
    const code = eligibility.status === 'ineligible' ? 'not-eligible' : 'unavailable';
    throw new AppError(code, { provider });
  }
}

function factsOf(login: string | null): EligibilityFacts {
  return { login, email: null, emailVerified: false, groups: null, memberships: {} };
}

/** @throws AppError `restore-required`: the account is opened with its device key, `account-disabled` */
function checkOpen({ account, keyMode }: IdentityAccount, provider: string): void {
  if (keyMode === 'keyed') {
    throw new AppError('restore-required', { provider });
  }
  if (account.isDisabled) {
    throw new AppError('account-disabled');
  }
}

function refuseUnless(decision: KeylessDecision, provider: string): void {
  if (!decision.isAllowed) {
    throw new AppError(decision.code, { provider });
  }
}
