import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { IdentityLinksService } from '../../identities/identity-links.service.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import type { CallingSession } from '../../storage/account-row.js';
import type { Transaction } from '../../storage/database.service.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import {
  CertificateIdentitiesService,
  type NamedCertificate,
  type ProvenCertificate,
} from './certificate-identities.service.js';
import { CertificateReturnService, checkProof, toProofHash } from './certificate-return.service.js';

/** Lifetime from the start to the address that requests the certificate. */
const START_LIFETIME_MS = 10 * 60_000;

interface ConnectOwner {
  readonly accountId: string;
  /** Lower-case hex; null = the account alone is enough. */
  readonly proofHash: string | null;
}

interface ConnectStart extends ConnectOwner {
  readonly returnTo: string;
}

interface ConnectClaim extends ConnectOwner, NamedCertificate {}

@Injectable()
export class CertificateConnectService {
  constructor(
    private readonly certificates: CertificateIdentitiesService,
    private readonly flows: ExternalFlowRepository,
    private readonly returns: CertificateReturnService,
    private readonly links: IdentityLinksService,
    private readonly accounts: AccountRepository,
    private readonly admission: AdmissionService,
  ) {}

  /** @returns the address to open; relative to that of the request unless configured */
  async start(accountId: string, returnTo: unknown, proofHash: unknown): Promise<string> {
    await this.requireOffered(accountId);
    const { href } = this.returns.addressOf(returnTo);
    const contents: ConnectStart = { accountId, proofHash: toProofHash(proofHash), returnTo: href };
    const state = await this.flows.add('mtls-connect-start', contents, START_LIFETIME_MS);
    return this.returns.completion('/v1/connect/certificate', { state });
  }

  /** Adds a code or an `error` to the return address. Only the starting account can use it. */
  async complete(request: IncomingMessage, state: unknown): Promise<string> {
    // The start has checked that it is offered to this kind of account.
    this.admission.require(CERTIFICATES, 'connect', 'keyed');
    const start =
      typeof state === 'string'
        ? await this.flows.take<ConnectStart>('mtls-connect-start', state)
        : null;
    const { returnTo, ...owner } = orRefuse(start, 'invalid-pending');
    const url = this.returns.addressOf(returnTo);
    url.searchParams.set('flow', 'connect');
    try {
      const { subject, login, record } = answered(await this.certificates.of(request));
      const contents: ConnectClaim = { subject, login, record, ...owner };
      return await this.returns.shown(url, 'mtls-connect', contents);
    } catch (error) {
      return this.returns.refused(url, error);
    }
  }

  async connect(caller: CallingSession, request: IncomingMessage): Promise<void> {
    await this.requireOffered(caller.accountId);
    const proven = await this.certificates.of(request);
    await this.link(caller, () => Promise.resolve(proven));
    await this.certificates.confirm(proven);
  }

  /** A refusal does not use up the code. */
  async claim(
    caller: CallingSession,
    code: string,
    proof: string | null,
    address: string,
  ): Promise<void> {
    const { accountId } = caller;
    await this.requireOffered(accountId);
    const claim = await this.flows.read<ConnectClaim>('mtls-connect', code);
    const { subject, login, record } = claimOf(claim, accountId, proof);
    // It may have been revoked since the browser showed it. No transaction waits for the sources.
    const proven = await this.certificates.verify({ subject, login, record }, address);
    await this.link(caller, async (tx) => {
      const taken = await this.flows.take<ConnectClaim>('mtls-connect', code, tx);
      claimOf(taken, accountId, proof);
      return proven;
    });
    await this.certificates.confirm(proven);
  }

  async disconnect(caller: CallingSession): Promise<void> {
    await this.links.remove(caller, CERTIFICATES);
  }

  private async link(
    caller: CallingSession,
    take: (tx: Transaction) => Promise<ProvenCertificate>,
  ): Promise<void> {
    await this.links.linkCertificate(caller, async (tx) => {
      const { login, record: certificate, subject, checkedAt } = answered(await take(tx));
      const facts = { login, email: null, emailVerified: false, groups: null, memberships: {} };
      const proof = { provider: CERTIFICATES, subject, facts, credentials: null, checkedAt };
      return { ...proof, certificate };
    });
  }

  private async requireOffered(accountId: string): Promise<void> {
    const { keyMode } = await this.accounts.profile(accountId);
    this.admission.require(CERTIFICATES, 'connect', keyMode);
  }
}

function claimOf(
  contents: ConnectClaim | null,
  accountId: string,
  proof: string | null,
): ConnectClaim {
  if (contents?.accountId !== accountId) {
    throw new AppError('invalid-code');
  }
  checkProof(contents.proofHash, proof);
  return contents;
}

/** @throws AppError `unavailable`: an old answer is about no new identity */
function answered(proven: ProvenCertificate): ProvenCertificate {
  if (proven.eligibility.status !== 'eligible') {
    throw new AppError('unavailable', { provider: CERTIFICATES });
  }
  return proven;
}
