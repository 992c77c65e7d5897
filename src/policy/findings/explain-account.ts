import { judgeProviders } from '../admission/access.js';
import {
  admissionTable,
  CERTIFICATES,
  judgeAdmission,
  type AdmissionDecision,
  type AdmissionPolicy,
} from '../admission/admission.js';
import { judgeRecord } from '../certificate/certificate-record.js';
import type { CertificateRules } from '../certificate/client-certificate.js';
import {
  judgeEligibility,
  type EligibilityRules,
  type EligibilityStatus,
} from '../eligibility/eligibility.js';
import { eligibilityRulesOf, type ProviderRules } from '../eligibility/provider-rules.js';
import type { KeyMode } from '../operator-policy.js';
import type { KnownIdentity } from './policy-plan.js';

/** An identity with what an explanation says of it. Times are Unix milliseconds. */
export interface ExplainedIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly nextCheckAt: number | null;
}

/** An account as the rules see it. */
export interface ExplainedAccount {
  readonly keyMode: KeyMode;
  /** Unix milliseconds; null = it is not disabled. */
  readonly disabledAt: number | null;
  readonly identities: readonly ExplainedIdentity[];
}

/** Whether one way to log in opens the account. */
export type ExplainedLogin = { readonly method: string } & AdmissionDecision;

export interface ExplainedVerdict {
  readonly status: EligibilityStatus;
  readonly reason?: string;
}

/** One provider that is required, or of which the account has an identity. */
export interface ExplainedProvider {
  readonly provider: string;
  readonly isRequired: boolean;
  readonly isConfigured: boolean;
  readonly identity: ExplainedIdentity | null;
  /** null = the provider is not configured, or has none of these. */
  readonly rules: EligibilityRules | CertificateRules | null;
  /** What the rules say of the facts or the certificate; null = there is nothing to judge. */
  readonly verdict: ExplainedVerdict | null;
  /** The same in words. */
  readonly sentences: readonly string[];
}

export interface AccountExplanation {
  readonly decision: 'allowed' | 'refused';
  /** The code of the refusal; null = the account is allowed. */
  readonly code: 'account-disabled' | 'provider-required' | 'not-eligible' | null;
  /** The decision in words. */
  readonly reasons: readonly string[];
  readonly logins: readonly ExplainedLogin[];
  readonly providers: readonly ExplainedProvider[];
}

/** Says by which rules and facts an account is served or refused. */
export function explainAccount(
  policy: AdmissionPolicy,
  account: ExplainedAccount,
  now: number,
): AccountExplanation {
  const { requiredLoginProviders: required, offboarding } = policy.auth;
  const isKeyless = account.keyMode === 'keyless';
  const { identities, disabledAt } = account;
  const decision = judgeProviders(required, { isKeyless, identities }, offboarding, now);
  const refusal = decision.isAllowed ? null : decision.code;
  const code = disabledAt === null ? refusal : 'account-disabled';
  const logins = loginsOf(policy, account);
  const shown = new Set([...required, ...identities.map(({ provider }) => provider)]);
  return {
    decision: code === null ? 'allowed' : 'refused',
    code,
    reasons: [
      disabledAt === null
        ? 'The account is enabled.'
        : `The account is disabled since ${timeOf(disabledAt)}.`,
      ...(isKeyless ? ['It has no device key: one of its identities has to be eligible.'] : []),
      ...(decision.isAllowed ? [] : [refusalOf(decision)]),
      ...logins.map((login) =>
        login.isAllowed
          ? `Login with ${login.method} is allowed.`
          : `Login with ${login.method} is refused by ${login.variable}: ${login.code}.`,
      ),
    ],
    logins,
    providers: [...shown].map((provider) =>
      explainProvider(
        policy,
        provider,
        identities.find((one) => one.provider === provider) ?? null,
        now,
      ),
    ),
  };
}

function refusalOf({
  code,
  provider,
}: {
  readonly code: 'provider-required' | 'not-eligible';
  readonly provider: string | null;
}): string {
  if (provider === null) {
    return 'None of its identities is eligible.';
  }
  return code === 'provider-required'
    ? `${provider} is required, and no identity of it is linked.`
    : `${provider} is required, and does not confirm its identity.`;
}

/** The methods that open the account, each with the decision of the admission table. */
function loginsOf(
  policy: AdmissionPolicy,
  { keyMode, identities }: ExplainedAccount,
): ExplainedLogin[] {
  const table = admissionTable(policy);
  return keyMode === 'keyless'
    ? identities.map(({ provider: method }) => ({
        method,
        ...judgeAdmission(table, method, 'login', 'keyless'),
      }))
    : [{ method: 'key_challenge', ...judgeAdmission(table, 'key_challenge', 'login', 'keyed') }];
}

function explainProvider(
  { auth, mtls, providers }: AdmissionPolicy,
  id: string,
  identity: ExplainedIdentity | null,
  now: number,
): ExplainedProvider {
  const provider = providers.find((one) => one.id === id);
  const { rules, verdict } =
    id === CERTIFICATES
      ? explainCertificate(mtls, identity, now)
      : explainFacts(provider, identity);
  return {
    provider: id,
    isRequired: auth.requiredLoginProviders.includes(id),
    isConfigured: provider !== undefined || (id === CERTIFICATES && mtls.enabled),
    ...{ identity, rules, verdict },
    sentences:
      identity === null
        ? ['No identity is linked: provider-required.']
        : identitySentences(identity, rules, verdict),
  };
}

type Judged = Pick<ExplainedProvider, 'rules' | 'verdict'>;

function explainFacts(
  provider: ProviderRules | undefined,
  identity: ExplainedIdentity | null,
): Judged {
  const rules = provider === undefined ? null : eligibilityRulesOf(provider);
  const facts = identity?.facts ?? null;
  return rules === null || identity === null || facts === null
    ? { rules, verdict: null }
    : { rules, verdict: judgeEligibility(rules, { subject: identity.subject, facts }) };
}

function explainCertificate(
  mtls: AdmissionPolicy['mtls'],
  identity: ExplainedIdentity | null,
  now: number,
): Judged {
  if (!mtls.enabled) {
    return { rules: null, verdict: null };
  }
  const { identitySource, allowedEmailDomains, allowedIssuers } = mtls;
  const rules = { identitySource, allowedEmailDomains, allowedIssuers };
  if (identity === null) {
    return { rules, verdict: null };
  }
  const { kind: status, ...reason } = judgeRecord(
    identity.certificate,
    identity.subject,
    rules,
    now,
  );
  return { rules, verdict: { status, ...reason } };
}

function identitySentences(
  identity: ExplainedIdentity,
  rules: Judged['rules'],
  verdict: ExplainedVerdict | null,
): string[] {
  const { login, status, reason, checkedAt, nextCheckAt, failures, certificate } = identity;
  const facts = certificate?.facts ?? identity.facts;
  return [
    `Linked as ${login ?? identity.subject}; stored result: ${status}${reason === null ? '' : ` (${reason})`}.`,
    `Last definite answer ${timeOf(checkedAt)}; next check ${timeOf(nextCheckAt)}; ${failures} checks without an answer since.`,
    ...Object.entries(rules ?? {})
      .filter(([, rule]) => Array.isArray(rule) && rule.length > 0)
      .map(([name, rule]) => `Rule ${name}: ${(rule as readonly string[]).join(', ')}`),
    `Facts from the ${certificate === null ? 'provider' : 'certificate'}: ${facts === null ? 'none yet' : JSON.stringify(facts)}`,
    `By these rules: ${verdict === null ? 'not judged' : wordsOf(verdict)}.`,
  ];
}

function wordsOf({ status, reason }: ExplainedVerdict): string {
  return reason === undefined ? status : `${status} (${reason})`;
}

function timeOf(ms: number | null): string {
  return ms === null ? 'never' : new Date(ms).toISOString();
}
