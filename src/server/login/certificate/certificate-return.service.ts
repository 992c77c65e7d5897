import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError, ERRORS, invalidRequest, orRefuse } from '../../../common/errors.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import { allowedReturnTo } from '../../../core/policy/flow/return-address.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { isProofOf, PROOF_HASH, PROOF_HASH_MESSAGE } from '../login-proof.js';

/** The addresses between which a browser goes: the one that requests its certificate, and the client's. */
@Injectable()
export class CertificateReturnService {
  constructor(
    private readonly audit: AuditService,
    private readonly flows: ExternalFlowRepository,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  /**
   * The address that requests the browser's certificate.
   * @param route of the flow, for example `/v1/auth/mtls`
   * @returns relative to that of the request unless configured, which keeps a proxy's path prefix
   */
  completion(route: string, parameters: Record<string, string>): string {
    const { publicUrl } = this.mtls;
    const base = publicUrl === null ? '' : `${publicUrl}${route}/`;
    return `${base}complete?${new URLSearchParams(parameters).toString()}`;
  }

  /** @throws AppError `invalid-return-to` */
  addressOf(returnTo: unknown): URL {
    const { returnToAllowPrefixes } = this.mtls;
    const url =
      typeof returnTo === 'string' ? allowedReturnTo(returnTo, returnToAllowPrefixes) : null;
    return orRefuse(url, 'invalid-return-to');
  }

  /** The return address with a single-use code, which keeps the contents and the time as `shownAt`. */
  async shown(url: URL, kind: 'mtls-claim' | 'mtls-connect', contents: object): Promise<string> {
    const shownAt = this.clock.now();
    const lifetimeMs = this.mtls.claimTtlSeconds * 1000;
    url.searchParams.set('code', await this.flows.add(kind, { ...contents, shownAt }, lifetimeMs));
    return url.href;
  }

  /**
   * The return address with a refusal as its `error`, which is audited, and with the account of a
   * person who has just proven it.
   * @throws any other error
   */
  refused(url: URL, error: unknown): string {
    if (!(error instanceof AppError) || ![401, 403, 409].includes(ERRORS[error.code].status)) {
      throw error;
    }
    this.audit.refuse(CERTIFICATES, error.code);
    url.searchParams.set('error', error.code.replaceAll('-', '_'));
    const { accountId, reason } = error.extras;
    if (accountId !== undefined) {
      url.searchParams.set('account', accountId);
    }
    if (reason !== undefined) {
      url.searchParams.set('reason', reason);
    }
    return url.href;
  }
}

/** @throws AppError `invalid-request` */
export function toProofHash(value: unknown): string | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== 'string' || !PROOF_HASH.test(value)) {
    throw invalidRequest('proofHash', PROOF_HASH_MESSAGE);
  }
  return value.toLowerCase();
}

/**
 * A proof for a code that needs none is refused too: the code is of another login, as its
 * `proofHash` was lost on the way.
 * @throws AppError `invalid-proof`
 */
export function checkProof(proofHash: string | null, proof: string | null): void {
  const isRight = proofHash === null ? proof === null : isProofOf(proof ?? '', proofHash);
  if (!isRight) {
    throw new AppError('invalid-proof');
  }
}
