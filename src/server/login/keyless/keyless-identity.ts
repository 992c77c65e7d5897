import type { SessionLimits } from '../../auth/sessions/session-issuer.service.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import type {
  EligibilityFacts,
  EligibilityVerdict,
} from '../../../core/policy/eligibility/eligibility.js';
import type { Authority } from '../../../core/policy/eligibility/identity-link.js';

/** The revocation status of the certificate could not be determined. */
interface UnansweredEligibility {
  readonly status: 'unknown';
  readonly reason: string;
  /** True if the last answer about this identity counts, when it was good. */
  readonly lastAnswerStands: boolean;
}

/** An identity just proven by a provider or a certificate, without a device key. */
export interface KeylessIdentity {
  /** A configured provider's id, or `mtls`. */
  readonly provider: string;
  readonly subject: string;
  /** The issuer; null = a certificate. */
  readonly authority: Authority | null;
  readonly login: string | null;
  /** The verdict of the operator's rules. */
  readonly eligibility: EligibilityVerdict | UnansweredEligibility;
  /** Credentials for the re-check; null keeps the stored ones. */
  readonly credentials: string | null;
  /** The presented certificate. Default: none. */
  readonly certificate?: CertificateRecord | null;
  /** Limits of the session. Default: the common lifetime. */
  readonly limits?: SessionLimits;
  /** The judged facts. Default: the login only. */
  readonly facts?: EligibilityFacts;
  /** The provider's own session, for logout tokens. Default: unknown. */
  readonly providerSession?: string | null;
  /** When the identity was proven, Unix milliseconds. */
  readonly checkedAt: number;
  /** When the person authenticated for this login, Unix milliseconds. Default: now. */
  readonly authenticatedAt?: number;
}

/** Returns true if the current eligibility is unknown and the last answer counts. */
export function standsOnLastAnswer({ eligibility }: KeylessIdentity): boolean {
  return 'lastAnswerStands' in eligibility && eligibility.lastAnswerStands;
}
