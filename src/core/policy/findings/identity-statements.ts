import { commonNamesOf, type CertificateFacts } from '../certificate/client-certificate.js';
import type {
  EligibilityFacts,
  EligibilityStatus,
  Membership,
} from '../eligibility/eligibility.js';
import { judgeSignals } from '../eligibility/signals.js';
import { state } from '../messages/messages.js';
import type { Statement } from '../messages/statement.js';
import type { KnownIdentity } from './policy-plan.js';

/** Times are Unix milliseconds. */
export interface ExplainedIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly nextCheckAt: number | null;
}

export interface ExplainedVerdict {
  readonly status: EligibilityStatus;
  readonly reason?: string;
}

/** @param rules the sentences of the policy about its provider */
export function identityStatements(
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

export function signalStatements(
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
