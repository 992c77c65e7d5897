import { Inject, Injectable } from '@nestjs/common';
import {
  RefusedPeopleService,
  type RefusalKind,
  type RefusedPerson,
} from '../audit/refused-people.service.js';
import { AppError } from '../../common/errors.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import type { DirectoryRules } from '../../core/policy/eligibility/provider-rules.js';
import {
  judgeSignals,
  type SignalDecision,
  type SignalFact,
  type SignalReason,
} from '../../core/policy/eligibility/signals.js';
import type { SubjectName } from '../../core/policy/eligibility/subject-identifier.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../storage/database.service.js';
import { DirectoryLinkRepository } from '../storage/repositories/directory/directory-link.repository.js';
import type {
  DirectoryWord,
  MatchedLogin,
} from '../storage/repositories/directory/directory-names.js';
import {
  lockEmails,
  takeEmailSignal,
  type EmailLogin,
} from '../storage/repositories/signals/email-signals.js';
import {
  isSignedOut,
  lockSignOuts,
  waitingFor,
  type SignedOut,
} from '../storage/repositories/signals/waiting-sign-outs.js';
import {
  IdentitySignalRepository,
  type SignalEffect,
  type SignalSubject,
} from '../storage/repositories/directory/identity-signal.repository.js';

/** A refusal in a transaction, with what its row says. */
class RefusedLogin extends AppError {
  readonly person: Omit<RefusedPerson, 'address'>;

  constructor({ provider, subject, facts }: MatchedLogin, reason: string) {
    super('not-eligible', { provider });
    this.person = { provider, subject, facts, reason };
  }
}

/** A login at a provider. */
interface ProvenLogin extends MatchedLogin {
  /** Unix milliseconds, taken before the provider's answer. */
  readonly checkedAt: number;
}

/** A login that its client finishes, or an administrator's. */
export interface PendingLogin extends ProvenLogin {
  /** The session at the provider; null = it is not known. */
  readonly providerSession: string | null;
}

@Injectable()
export class IdentitySignalsService {
  constructor(
    private readonly database: DatabaseService,
    private readonly links: DirectoryLinkRepository,
    private readonly signals: IdentitySignalRepository,
    private readonly refusals: RefusedPeopleService,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
    @Inject(providersConfig.KEY) private readonly providers: ConfiguredProviders,
  ) {}

  /**
   * Links the person of the directory that a login matches, takes over an event about the person's
   * address, and judges the person's signals.
   * @param kind of the stored refusal
   * @returns the reason of a refusal, which is stored for the operator; null = the signals allow it
   */
  async meet(
    login: ProvenLogin,
    address: string,
    kind: RefusalKind = 'login-refused',
  ): Promise<SignalReason | null> {
    const owner = this.ownerOf(login);
    if (owner !== null) {
      await this.database.transaction((tx) => takeEmailSignal(tx, this.signals, owner));
    }
    if (this.directoryOf(login.provider) !== null) {
      await this.database.transaction((tx) => this.meetDirectory(tx, login));
    }
    // This login at the provider answers a sign-out.
    const decision = await this.judge(login, ({ source }) => source !== 'sign-out');
    if (decision.isAllowed) {
      return null;
    }
    const { reason } = decision;
    await this.refusals.add({ ...login, address, reason }, kind);
    return reason;
  }

  /** Judges a person who is signed in, whether or not an account has the identity. */
  admits(login: PendingLogin): Promise<boolean> {
    const { provider, checkedAt } = login;
    // Earlier sign-outs are answered.
    const isLater = ({ source, at }: SignalFact) => source !== 'sign-out' || at > checkedAt;
    return this.database.transaction(async (tx) => {
      await this.lockEmailOf(tx, login);
      await this.meetDirectory(tx, login);
      const isOut = await isSignedOut(tx, provider, namesOf(login), new Date(checkedAt));
      return !isOut && (await this.judgeNow(tx, login, isLater)).isAllowed;
    });
  }

  /**
   * Begins the end of a login, in its transaction: links the person of the directory, and notes the login as
   * the answer to earlier sign-outs. Call it before other locks are taken: a directory or an event that
   * names the person meanwhile waits, and then finds the identity.
   */
  async begin(tx: Transaction, login: PendingLogin): Promise<void> {
    const { provider, checkedAt } = login;
    await lockSignOuts(tx, provider, namesOf(login));
    await this.lockEmailOf(tx, login);
    await this.meetDirectory(tx, login);
    await this.signals.noteLogin(tx, login, new Date(checkedAt));
  }

  /**
   * Stores the result of a re-check, and applies the refusal of a directory that waits for an id or a name which it has
   * learnt. Both or neither: the next re-check is an interval later.
   * @param store rejects to store nothing
   * @returns what it returned, and the effect of the refusal; null = none
   */
  async learn<Stored>(
    known: MatchedLogin,
    now: Date,
    store: (runner: SqlRunner) => Promise<Stored>,
  ): Promise<readonly [stored: Stored, refused: SignalEffect | null]> {
    if (this.directoryOf(known.provider) === null) {
      return [await store(this.database), null];
    }
    return this.database.transaction(async (tx) => {
      const word = await this.meetDirectory(tx, known);
      const stored = await store(tx);
      return [stored, word?.isAllowed === false ? await this.refuse(tx, known, now) : null];
    });
  }

  private refuse(tx: Transaction, known: MatchedLogin, now: Date): Promise<SignalEffect | null> {
    const isRequired = this.auth.requiredLoginProviders.includes(known.provider);
    const event = { kind: 'directory-deactivated' } as const;
    const change = { isAllowed: false, isRequired, event, reason: 'directory', now };
    return this.signals.apply(tx, known, change);
  }

  private async meetDirectory(tx: Transaction, login: MatchedLogin): Promise<DirectoryWord | null> {
    const rules = this.directoryOf(login.provider);
    const word = rules === null ? null : await this.links.meet(tx, rules.match, login);
    if (word !== null) {
      const { provider, subject } = login;
      await this.signals.store(tx, { provider, subject, source: 'directory', at: null, ...word });
    }
    return word;
  }

  /**
   * Judges the person again, in the transaction of the login. Give what the transaction rejects with to
   * {@link storeRefusal}.
   * @throws AppError `not-eligible`; `provider-required` for a person who was signed out meanwhile
   */
  async require(tx: Transaction, person: PendingLogin): Promise<void> {
    const { provider } = person;
    const provenAt = new Date(person.checkedAt);
    const people = peopleOf(person);
    const ends = [...namesOf(person), ...waitingFor('refusal', people)];
    if (await isSignedOut(tx, provider, ends, provenAt)) {
      throw new AppError('provider-required', { provider });
    }
    await this.signals.keepDue(tx, person, people, provenAt);
    const decision = await this.judgeNow(tx, person, () => true);
    if (!decision.isAllowed) {
      const { reason } = decision;
      throw reason === 'signed_out'
        ? new AppError('provider-required', { provider })
        : new RefusedLogin(person, reason);
    }
  }

  /**
   * Stores a refusal of {@link require} for the operator, after its transaction was rolled back.
   * @throws the error
   */
  async storeRefusal(error: unknown): Promise<never> {
    if (error instanceof RefusedLogin) {
      await this.refusals.add({ ...error.person, address: null }, 'login-refused');
    }
    throw error;
  }

  private async lockEmailOf(tx: Transaction, login: ProvenLogin): Promise<void> {
    const owner = this.ownerOf(login);
    await lockEmails(tx, login.provider, owner === null ? [] : [owner.email]);
  }

  /** Judges the person, with an event about the address since the login. */
  private async judgeNow(
    tx: Transaction,
    login: ProvenLogin,
    counts: (fact: SignalFact) => boolean,
  ): Promise<SignalDecision> {
    const owner = this.ownerOf(login);
    if (owner !== null) {
      await takeEmailSignal(tx, this.signals, owner);
    }
    return this.judge(login, counts, tx);
  }

  private async judge(
    { provider, subject }: SignalSubject,
    counts: (fact: SignalFact) => boolean,
    runner?: SqlRunner,
  ): Promise<SignalDecision> {
    const { signals, hasDirectory } = await this.signals.find({ provider, subject }, runner);
    const identity = { provider, signals: signals.filter(counts), hasDirectory };
    return judgeSignals(identity, this.auth.offboarding.directories);
  }

  /** @returns null where no event about the address has an effect */
  private ownerOf({ provider: id, subject, facts, checkedAt }: ProvenLogin): EmailLogin | null {
    const provider = this.providers.find((one) => one.id === id);
    const hasEvents = provider?.type === 'oidc' && provider.sharedSignals !== null;
    const email = hasEvents && facts.emailVerified ? facts.email : null;
    return email === null
      ? null
      : { provider: id, subject, email, loggedInAt: new Date(checkedAt) };
  }

  private directoryOf(id: string): DirectoryRules | null {
    const provider = this.providers.find((one) => one.id === id);
    return provider?.type === 'oidc' ? provider.scim : null;
  }
}

function namesOf(login: PendingLogin): SignedOut[] {
  const { providerSession: session } = login;
  return [...peopleOf(login), ...(session === null ? [] : [{ session }])];
}

function peopleOf({ subject, facts: { email, emailVerified } }: PendingLogin): SubjectName[] {
  return [{ subject }, ...(email !== null && emailVerified ? [{ email }] : [])];
}
