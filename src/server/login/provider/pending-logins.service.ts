import { Injectable } from '@nestjs/common';
import { AppError, orRefuse } from '../../../common/errors.js';
import type { AuthMode } from '../../../core/policy/admission/admission.js';
import type { EligibilityFacts } from '../../../core/policy/eligibility/eligibility.js';
import { OperatorRulesService } from '../../config/operator-rules.service.js';
import { IdentitySignalsService } from '../../identities/identity-signals.service.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { DatabaseService, type Transaction } from '../../storage/database.service.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { isProofOf } from '../login-proof.js';
import { LoginRechecksService } from '../login-rechecks.service.js';

/** Lifetime of a `state`, and then of a `pending`. */
const LIFETIME_MS = 10 * 60_000;

/** The caller that may finish a flow: it knows the proof, has the key, or is the account. */
export interface FlowOwner {
  /** SHA-256, lower-case hex. */
  readonly proofHash: string | null;
  /** base64url without padding. */
  readonly publicKey: string | null;
  /** The account that an identity is being connected to; null for a login. */
  readonly accountId: string | null;
}

export interface FlowContents {
  readonly provider: string;
  readonly mode: AuthMode;
  readonly holder: FlowOwner;
  /** The port of a command line on the browser's own machine; null = the return address. */
  readonly loopbackPort: number | null;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface PendingContents {
  readonly provider: string;
  /** The issuer of the subject. */
  readonly issuer: string;
  readonly holder: FlowOwner;
  readonly subject: string;
  readonly facts: EligibilityFacts;
  readonly credentials: string | null;
  /** The session at the provider, for logout tokens. */
  readonly providerSession: string | null;
  /** Time of the provider's answer, Unix milliseconds. */
  readonly checkedAt: number;
}

/** Flows at a provider, and then proven identities that wait for their client. */
@Injectable()
export class PendingLoginsService {
  constructor(
    private readonly database: DatabaseService,
    private readonly flows: ExternalFlowRepository,
    private readonly providers: ProviderRegistry,
    private readonly signals: IdentitySignalsService,
    private readonly rules: OperatorRulesService,
    private readonly rechecks: LoginRechecksService,
  ) {}

  /** Stores a flow behind its `state`. */
  async addFlow(state: string, contents: FlowContents): Promise<void> {
    await this.flows.add('external-flow', contents, LIFETIME_MS, state);
  }

  /** Takes a flow, once. @returns null when there is none, or it has expired */
  takeFlow(state: string): Promise<FlowContents | null> {
    return this.flows.take<FlowContents>('external-flow', state);
  }

  /** Stores a proven identity. @returns its `pending` */
  add(contents: PendingContents): Promise<string> {
    return this.flows.add('external-pending', contents, LIFETIME_MS);
  }

  /**
   * Reads a login without finishing it.
   * @throws AppError `invalid-pending` if it does not exist, or belongs to another provider
   */
  async read(provider: string, pending: string): Promise<PendingContents> {
    const contents = await this.flows.read<PendingContents>('external-pending', pending);
    if (contents?.provider !== provider) {
      throw new AppError('invalid-pending');
    }
    return contents;
  }

  /** Takes the login in the transaction of `work`: one of concurrent calls, and no refused one. */
  async use<Result>(
    provider: string,
    pending: string,
    work: (tx: Transaction, contents: PendingContents) => Promise<Result>,
  ): Promise<Result> {
    const { issuer } = orRefuse(this.providers.authority(provider), 'unsupported-provider');
    const rules = this.rules.current();
    const used = this.database.transaction(async (tx) => {
      const contents = await this.flows.take<PendingContents>('external-pending', pending, tx);
      // The configured issuer may have changed since then.
      if (contents?.provider !== provider || contents.issuer !== issuer) {
        throw new AppError('invalid-pending');
      }
      // Again: a directory may have named the person since the provider's answer.
      await this.signals.begin(tx, contents);
      const result = await work(tx, contents);
      // Read under the lock of the identity, so that a simultaneous no of a directory is not missed.
      await this.signals.require(tx, contents);
      return { result, subject: contents.subject };
    });
    const { result, subject } = await used.catch((error: unknown) =>
      this.signals.storeRefusal(error),
    );
    await this.rechecks.confirm(provider, subject, this.rules.current() !== rules);
    return result;
  }

  drop(pending: string): Promise<void> {
    return this.flows.drop(pending);
  }
}

/**
 * An attacker that intercepts the return address has the pending, but neither proof nor key.
 * @param publicKey null when the proof alone has to suffice
 */
export function checkFlowOwner(
  owner: FlowOwner,
  proof: string | undefined,
  publicKey: Buffer | null,
): void {
  if (owner.accountId !== null) {
    throw new AppError('invalid-pending');
  }
  const isKeyRight =
    owner.publicKey === null || owner.publicKey === publicKey?.toString('base64url');
  const isProofRight = owner.proofHash === null || isProofOf(proof ?? '', owner.proofHash);
  const hasProof = owner.proofHash !== null || publicKey !== null;
  if (!isKeyRight || !isProofRight || !hasProof) {
    throw new AppError('invalid-proof');
  }
}
