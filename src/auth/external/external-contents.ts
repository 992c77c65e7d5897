import type { AuthMode } from '../../policy/auth-methods.js';
import type { EligibilityFacts } from '../../policy/eligibility.js';
import type { ExternalFlowFacts } from '../../policy/external-flow.js';
import type { Settings } from '../../config/settings.js';

/** How long the browser has, and then the client. */
export const LIFETIME_MS = 10 * 60_000;

/** Who may finish what was started: whoever knows the proof, holds the key, or is the account. */
export interface Holder {
  /** SHA-256, lower-case hex. */
  readonly proofHash: string | null;
  /** base64url without padding. */
  readonly publicKey: string | null;
  /** The account an identity is being connected to; null for a login. */
  readonly accountId: string | null;
}

/** What `state` stands for. */
export interface FlowContents {
  readonly provider: string;
  readonly mode: AuthMode;
  readonly holder: Holder;
  /** Where a command line on the browser's own machine listens; null = the return address. */
  readonly loopbackPort: number | null;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What `pending` stands for. */
export interface PendingContents {
  readonly provider: string;
  /** Who named the subject; absent in what an older server stored. */
  readonly issuer?: string;
  readonly holder: Holder;
  readonly subject: string;
  readonly facts: EligibilityFacts;
  readonly credentials: string | null;
  /** When the provider was asked, Unix milliseconds. */
  readonly checkedAt: number;
}

export function externalFlowFacts({ auth, encryption, keyless }: Settings): ExternalFlowFacts {
  return {
    storagePolicy: encryption.storagePolicy,
    signupProviders: auth.signupProviders,
    keylessAccountsEnabled: keyless.accountsEnabled,
    keylessOAuth: keyless.oauth,
  };
}
