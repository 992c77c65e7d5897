import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import type { AuthMode } from '../../policy/admission/admission.js';
import type { EligibilityFacts } from '../../policy/eligibility/eligibility.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { Database, type Query } from '../../storage/database.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { isProofOf } from '../login-proof.js';

/** Lifetime of a `state`, and then of a `pending`. */
export const LIFETIME_MS = 10 * 60_000;

/** The caller that may finish a flow: it knows the proof, has the key, or is the account. */
export interface FlowOwner {
  /** SHA-256, lower-case hex. */
  readonly proofHash: string | null;
  /** base64url without padding. */
  readonly publicKey: string | null;
  /** The account that an identity is being connected to; null for a login. */
  readonly accountId: string | null;
}

/** The contents of a `state`, as stored. */
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

/** The contents of a `pending`, as stored. */
export interface PendingContents {
  readonly provider: string;
  /** The issuer of the subject; absent in rows of an older server. */
  readonly issuer?: string;
  readonly holder: FlowOwner;
  readonly subject: string;
  readonly facts: EligibilityFacts;
  readonly credentials: string | null;
  /** The session at the provider, for logout tokens; absent in rows of an older server. */
  readonly providerSession?: string | null;
  /** When the provider was asked, Unix milliseconds. */
  readonly checkedAt: number;
}

/** Proven identities that wait for their client. */
@Injectable()
export class PendingLogins {
  constructor(
    private readonly database: Database,
    private readonly flows: ExternalFlowRepository,
    private readonly providers: ProviderRegistry,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes a pending login in the transaction that uses it: of concurrent calls one succeeds, and a
   * refusal or a temporary failure does not use it up.
   *
   * @throws AppError `invalid-pending`, `unsupported-provider` when the provider is no longer
   *   configured, and what `work` throws
   */
  use<Result>(
    provider: string,
    pending: string,
    work: (query: Query, contents: PendingContents) => Promise<Result>,
  ): Promise<Result> {
    const issuer = this.providers.authority(provider)?.issuer;
    if (issuer === undefined) {
      return Promise.reject(new AppError('unsupported-provider'));
    }
    return this.database.transaction(async (query) => {
      const now = new Date(this.clock.now());
      const contents = await this.flows.take<PendingContents>(
        'external-pending',
        pending,
        now,
        query,
      );
      // The issuer of that moment may not be the configured one now.
      if (contents?.provider !== provider || (contents.issuer ?? issuer) !== issuer) {
        throw new AppError('invalid-pending');
      }
      return work(query, contents);
    });
  }

  /** Deletes a pending login, existing or not. */
  drop(pending: string): Promise<void> {
    return this.flows.drop(pending);
  }
}

/**
 * An attacker that intercepts the return address has the pending, and neither the proof nor the key.
 *
 * @param publicKey the proven key; null when the proof alone has to suffice
 * @throws AppError `invalid-pending`, `invalid-proof`
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
