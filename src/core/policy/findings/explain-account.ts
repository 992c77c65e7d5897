import { judgeProviders, type ProvidersDecision } from '../admission/access.js';
import { judgeResource, type ResourceDecision } from '../admission/resource-server.js';
import {
  type AdmissionDecision,
  type AdmissionPolicy,
  admissionTable,
  CERTIFICATES,
  judgeAdmission,
} from '../admission/admission.js';
import { judgeRecord } from '../certificate/certificate-record.js';
import {
  type CertificateFacts,
  type CertificateRules,
  commonNamesOf,
} from '../certificate/client-certificate.js';
import {
  type EligibilityFacts,
  type EligibilityRules,
  type EligibilityStatus,
  judgeEligibility,
  type Membership,
} from '../eligibility/eligibility.js';
import { capabilitiesOf, type ProviderRules } from '../eligibility/provider-rules.js';
import { state } from '../messages/messages.js';
import type { Statement } from '../messages/statement.js';
import type { Granted } from '../programs/describe-grant.js';
import type { KeyMode } from '../operator-policy.js';
import { certificateStatements, eligibilityStatements } from './describe-policy.js';
import { judgeSignals } from '../eligibility/signals.js';
import type { KnownIdentity } from './policy-plan.js';

interface ExplainedAccount {
  readonly keyMode: KeyMode;
  /** Unix milliseconds; null = it is not disabled. */
  readonly disabledAt: number | null;
  readonly identities: readonly ExplainedIdentity[];
  /** Programs that act for the person; absent where no backend accepts any. */
  readonly grants?: readonly Omit<Granted, 'scopes'>[];
}

/** True if the login method opens the account. */
type ExplainedLogin = { readonly method: string } & AdmissionDecision;

/** A provider that is required, or that the account has linked. */
interface ExplainedProvider {
  readonly provider: string;
  readonly isRequired: boolean;
  readonly isConfigured: boolean;
  readonly identity: ExplainedIdentity | null;
  /** null = the provider is not configured, or has no such rules. */
  readonly rules: EligibilityRules | CertificateRules | null;
  /** The verdict of the rules on the facts or the certificate; null = there is nothing to judge. */
  readonly verdict: ExplainedVerdict | null;
  readonly sentences: readonly string[];
  readonly statements: readonly Statement[];
}

interface ExplainedResourceServer {
  readonly id: string;
  readonly name: string;
  readonly resource: string;
  readonly isAllowed: boolean;
  /** The code of the refusal; null = tokens are issued. */
  readonly code: ResourceRefusal | null;
  /** The provider that the refusal is about. */
  readonly provider: string | null;
  readonly sentence: string;
  readonly statement: Statement;
}

type ResourceRefusal = 'account-disabled' | Exclude<ResourceDecision, { isAllowed: true }>['code'];

export interface AccountExplanation {
  readonly decision: 'allowed' | 'refused';
  /** The code of the refusal; null = the account is allowed. */
  readonly code: 'account-disabled' | 'provider-required' | 'not-eligible' | null;
  readonly reasons: readonly string[];
  readonly statements: readonly Statement[];
  readonly logins: readonly ExplainedLogin[];
  readonly providers: readonly ExplainedProvider[];
  readonly resourceServers: readonly ExplainedResourceServer[];
}

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
  const statements = [
    ...reasonsFor(account, decision, required, logins),
    ...programsOf(policy, account.grants ?? []),
  ];
  const shownProviders = new Set([...required, ...identities.map(({ provider }) => provider)]);
  return {
    decision: code === null ? 'allowed' : 'refused',
    code,
    reasons: statements.map(({ message }) => message),
    statements,
    logins,
    providers: [...shownProviders].map((provider) =>
      explainProvider(
        policy,
        provider,
        identities.find((one) => one.provider === provider) ?? null,
        now,
      ),
    ),
    resourceServers: explainResourceServers(policy, account, now),
  };
}

function reasonsFor(
  { keyMode, disabledAt, identities }: ExplainedAccount,
  decision: ProvidersDecision,
  required: readonly string[],
  logins: readonly ExplainedLogin[],
): Statement[] {
  return [
    disabledAt === null ? state('account-enabled') : state('account-disabled', { at: disabledAt }),
    ...(keyMode === 'keyless' ? [state('account-keyless')] : []),
    ...(decision.isAllowed ? [] : [refusalOf(decision, required, identities)]),
    ...logins.map(({ method, ...login }) =>
      login.isAllowed
        ? state('login-allowed', { method })
        : state('login-refused', { method, variable: login.variable, code: login.code }),
    ),
  ];
}

/** One sentence for each backend, because an account may have many grants. */
function programsOf(
  { resourceServers }: AdmissionPolicy,
  grants: readonly Omit<Granted, 'scopes'>[],
): Statement[] {
  return resourceServers.flatMap(({ id, name }) => {
    const own = grants.filter(({ resourceServer }) => resourceServer === id);
    const programs = new Set(own.map((grant) => `${grant.clientName} (${grant.clientId})`));
    return programs.size === 0
      ? []
      : [state('backend-programs', { name, programs: [...programs] })];
  });
}

function refusalOf(
  { code, provider }: Exclude<ProvidersDecision, { isAllowed: true }>,
  required: readonly string[],
  identities: readonly ExplainedIdentity[],
): Statement {
  // The refusal of an account without a device key may name a provider that is not required.
  if (provider === null || (code === 'not-eligible' && !required.includes(provider))) {
    return state('no-identity-eligible');
  }
  if (code === 'not-eligible') {
    return state('identity-not-confirmed', { provider });
  }
  return identities.some((one) => one.provider === provider)
    ? state('identity-login-expired', { provider })
    : state('identity-not-linked', { provider });
}

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
  const ruleStatements =
    id === CERTIFICATES
      ? certificateStatements({ mtls })
      : providers.filter((one) => one.id === id).flatMap(eligibilityStatements);
  const statements =
    identity === null
      ? [state('identity-absent')]
      : [
          ...identityStatements(identity, ruleStatements, verdict),
          ...signalStatements(identity, auth.offboarding.directories),
        ];
  return {
    provider: id,
    isRequired: auth.requiredLoginProviders.includes(id),
    isConfigured: provider !== undefined || (id === CERTIFICATES && mtls.enabled),
    identity,
    rules,
    verdict,
    sentences: statements.map(({ message }) => message),
    statements,
  };
}

function explainResourceServers(
  { auth, resourceServers }: AdmissionPolicy,
  { keyMode, disabledAt, identities }: ExplainedAccount,
  now: number,
): ExplainedResourceServer[] {
  const known = { isKeyless: keyMode === 'keyless', identities };
  return resourceServers.map((server) => {
    const { id, name, resource } = server;
    const judged = judgeResource(server, auth.requiredLoginProviders, known, auth.offboarding, now);
    const { code, provider } = judged.isAllowed ? { code: null, provider: null } : judged;
    const refusal =
      disabledAt === null
        ? { code, provider }
        : { code: 'account-disabled' as const, provider: null };
    const statement =
      refusal.code === null
        ? state('backend-allowed', { name })
        : state('backend-refused', { name, provider: refusal.provider, code: refusal.code });
    const isAllowed = refusal.code === null;
    return { id, name, resource, isAllowed, ...refusal, sentence: statement.message, statement };
  });
}

type Judged = Pick<ExplainedProvider, 'rules' | 'verdict'>;

function explainFacts(
  provider: ProviderRules | undefined,
  identity: ExplainedIdentity | null,
): Judged {
  const rules = provider === undefined ? null : capabilitiesOf(provider).rules;
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

/** Times are Unix milliseconds. */
interface ExplainedIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly nextCheckAt: number | null;
}

interface ExplainedVerdict {
  readonly status: EligibilityStatus;
  readonly reason?: string;
}

/** @param rules the sentences of the policy about its provider */
function identityStatements(
  identity: ExplainedIdentity,
  rules: readonly Statement[],
  verdict: ExplainedVerdict | null,
): Statement[] {
  const { login, subject, status, reason, checkedAt, nextCheckAt, failures } = identity;
  return [
    state('identity-linked', { name: login ?? subject, status, reason }),
    state('identity-checks', { checkedAt, nextCheckAt, failures }),
    ...rules,
    factsStatement(identity),
    verdict === null
      ? state('identity-not-judged')
      : state('identity-judged', { status: verdict.status, reason: verdict.reason ?? null }),
  ];
}

function factsStatement({ certificate, facts }: ExplainedIdentity): Statement {
  if (certificate !== null) {
    return certificateStatement(certificate.facts);
  }
  return facts === null ? state('identity-no-facts') : providerStatement(facts);
}

function providerStatement({ memberships, ...facts }: EligibilityFacts): Statement {
  const { login, email, emailVerified: isVerified, groups } = facts;
  const where = (wanted: Membership) =>
    Object.keys(memberships).filter((organization) => memberships[organization] === wanted);
  return state('identity-facts', {
    login,
    email,
    isVerified,
    groups,
    memberOf: where('active'),
    invitedTo: where('pending'),
    strangerTo: where('none'),
  });
}

function certificateStatement(facts: CertificateFacts): Statement {
  const { emails, upns, commonNames, issuer, validity } = facts;
  return state('certificate-facts', {
    names: [...emails, ...upns, ...commonNames],
    issuer: issuer === null ? null : (commonNamesOf(issuer)[0] ?? null),
    expiresAt: validity?.notAfter ?? null,
  });
}

function signalStatements(
  identity: ExplainedIdentity,
  directories: readonly string[] | undefined,
): Statement[] {
  const decision = judgeSignals(identity, directories);
  const isMissing = !decision.isAllowed && decision.reason === 'directory_missing';
  return [
    ...(isMissing ? [state('directory-absent')] : []),
    ...(identity.signals ?? []).flatMap(({ source, isAllowed, at }) => {
      if (source === 'directory') {
        return [state(isAllowed ? 'directory-active' : 'directory-inactive', { at })];
      }
      const code = source === 'sign-out' ? 'signed-out' : 'signal-disabled';
      return isAllowed ? [] : [state(code, { at })];
    }),
  ];
}
