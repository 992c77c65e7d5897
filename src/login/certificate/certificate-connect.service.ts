import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { Admission } from '../../auth/admission.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import { IdentityChanges } from '../../identities/identity-changes.js';
import { IdentityLinks } from '../../identities/identity-links.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import { Database, type Query } from '../../storage/database.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { randomSecret } from '../../common/random-secret.js';
import {
  CertificateIdentities,
  type NamedCertificate,
  type ProvenCertificate,
} from './certificate-identities.js';
import { checkProof, returnAddress, refusedReturn, toProofHash } from './certificate-return.js';

/** From the start to the address that requests the certificate. */
const START_LIFETIME_MS = 10 * 60_000;

/** Who connects a certificate. */
interface ConnectOwner {
  readonly accountId: string;
  /** Lower-case hex; null = the account alone is enough. */
  readonly proofHash: string | null;
}

/** The contents of a `state`, as stored. */
interface ConnectStart extends ConnectOwner {
  readonly returnTo: string;
}

/** The contents of a `code`, as stored. */
interface ConnectClaim extends ConnectOwner, NamedCertificate {}

/** Connects a client certificate to a signed-in account, directly or through a browser. */
@Injectable()
export class CertificateConnectService {
  constructor(
    private readonly certificates: CertificateIdentities,
    private readonly flows: ExternalFlowRepository,
    private readonly database: Database,
    private readonly links: IdentityLinks,
    private readonly changes: IdentityChanges,
    private readonly accounts: AccountRepository,
    private readonly admission: Admission,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  /**
   * The address to open in the browser, which requests its certificate there.
   *
   * @returns absolute where the operator named the address; else relative to that of the request
   * @throws AppError `not-found`, `mtls-required`, `keyless-disabled`, `e2ee-required`,
   *   `invalid-return-to`, `invalid-request`
   */
  async start(accountId: string, returnTo: unknown, proofHash: unknown): Promise<string> {
    await this.requireOffered(accountId);
    const { href } = returnAddress(returnTo, this.mtls);
    const contents: ConnectStart = { accountId, proofHash: toProofHash(proofHash), returnTo: href };
    const state = randomSecret();
    const expiresAt = new Date(this.clock.now() + START_LIFETIME_MS);
    await this.flows.add('mtls-connect-start', state, contents, expiresAt);
    const { publicUrl } = this.mtls;
    const base = publicUrl === null ? '' : `${publicUrl}/v1/connect/certificate/`;
    return `${base}complete?${new URLSearchParams({ state }).toString()}`;
  }

  /**
   * Adds a code for the certificate to the return address; a refusal is its `error`. The code is of
   * use to the account that began alone.
   *
   * @throws AppError `not-found`, `invalid-pending`, `unavailable`
   */
  async complete(request: IncomingMessage, state: unknown): Promise<string> {
    // Whether it is offered to this kind of account was decided at the start.
    this.admission.require(CERTIFICATES, 'connect', 'keyed');
    const now = this.clock.now();
    const begun =
      typeof state === 'string'
        ? await this.flows.take<ConnectStart>('mtls-connect-start', state, new Date(now))
        : null;
    if (begun === null) {
      throw new AppError('invalid-pending');
    }
    const { returnTo, ...owner } = begun;
    const url = returnAddress(returnTo, this.mtls);
    url.searchParams.set('flow', 'connect');
    try {
      const { subject, login, record } = answered(await this.certificates.of(request));
      const code = randomSecret();
      const contents: ConnectClaim = { subject, login, record, ...owner };
      const expiresAt = new Date(now + this.mtls.claimTtlSeconds * 1000);
      await this.flows.add('mtls-connect', code, contents, expiresAt);
      url.searchParams.set('code', code);
      return url.href;
    } catch (error) {
      return refusedReturn(url, error, this.audit);
    }
  }

  /**
   * Connects the certificate of this request.
   *
   * @throws AppError `not-found`, `mtls-required`, `not-eligible`, `provider-already-linked`,
   *   `unavailable`
   */
  async connect(accountId: string, request: IncomingMessage): Promise<void> {
    await this.requireOffered(accountId);
    const proven = await this.certificates.of(request);
    await this.link(accountId, () => Promise.resolve(proven));
  }

  /**
   * Connects the certificate that a browser showed. A refusal does not use the code up.
   *
   * @throws AppError `not-found`, `invalid-code`, `invalid-proof`, `not-eligible`,
   *   `provider-already-linked`, `unavailable`
   */
  async claim(accountId: string, code: string, proof: string | null): Promise<void> {
    await this.requireOffered(accountId);
    await this.link(accountId, async (query) => {
      const now = new Date(this.clock.now());
      const contents = await this.flows.take<ConnectClaim>('mtls-connect', code, now, query);
      if (contents?.accountId !== accountId) {
        throw new AppError('invalid-code');
      }
      checkProof(contents.proofHash, proof);
      const { subject, login, record } = contents;
      return { subject, login, record, eligibility: { status: 'eligible' } };
    });
  }

  /** Unlinks, linked or not. @throws AppError `invalid-request`: nothing else opens the account */
  async disconnect(accountId: string): Promise<void> {
    await this.links.remove(accountId, CERTIFICATES);
  }

  private async link(
    accountId: string,
    take: (query: Query) => Promise<ProvenCertificate>,
  ): Promise<void> {
    const change = await this.database.transaction(async (query) => {
      const { subject, login, record } = answered(await take(query));
      const facts = { login, email: null, emailVerified: false, groups: null, memberships: {} };
      const proof = { provider: CERTIFICATES, subject, facts, credentials: null };
      const checkedAt = this.clock.now();
      const proven = this.links.prove({ ...proof, certificate: record, checkedAt }, null);
      return this.links.linkProven(query, accountId, proven);
    });
    this.changes.announceLink(accountId, change);
  }

  /** @throws AppError `token-revoked` when the account is gone, and what the admission table refuses */
  private async requireOffered(accountId: string): Promise<void> {
    const { keyMode } = await this.accounts.profile(accountId);
    this.admission.require(CERTIFICATES, 'connect', keyMode);
  }
}

/** @throws AppError `unavailable`: an old answer is about no new identity */
function answered(proven: ProvenCertificate): ProvenCertificate {
  if (proven.eligibility.status !== 'eligible') {
    throw new AppError('unavailable', { provider: CERTIFICATES });
  }
  return proven;
}
