import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { GITHUB, okta, policyWith } from '../../../../test/fixtures/policy-fixture.js';
import { capabilitiesOf } from '../eligibility/provider-rules.js';
import { findLockouts } from '../findings/lockout.js';
import type { OperatorPolicy } from '../operator-policy.js';
import {
  admissionTable,
  allowedMethods,
  CERTIFICATES,
  INVITATION,
  isMtlsReachable,
  judgeAdmission,
  type AdmissionEntry,
  type AuthMethod,
} from './admission.js';
import { featureDocument } from './feature-document.js';

const RUNS = 20_000;
const IDS = ['okta', 'github', 'ghost'];

const ids = fc.subarray(IDS);
const restrictedOkta = okta({ allow: { groupsAny: ['staff'] } });

const anyPolicy: fc.Arbitrary<OperatorPolicy> = fc
  .record({
    auth: fc.record({
      anonymousSignupEnabled: fc.boolean(),
      signupInvitationsEnabled: fc.boolean(),
      keyChallengeEnabled: fc.boolean(),
      signupProviders: ids,
      requiredLoginProviders: fc.subarray([...IDS, CERTIFICATES]),
      offboarding: fc.record({
        enabled: fc.boolean(),
        intervalSeconds: fc.constantFrom(60, 86_400),
        strict: fc.boolean(),
      }),
    }),
    encryption: fc.record({
      storagePolicy: fc.constantFrom('required_e2ee', 'optional', 'plaintext_only'),
      defaultAccountMode: fc.constantFrom('e2ee', 'plain'),
      allowAccountOptOut: fc.boolean(),
    }),
    keyless: fc.record({
      accountsEnabled: fc.boolean(),
      oauth: fc.record({ enabled: fc.boolean(), providers: ids, autoProvision: fc.boolean() }),
    }),
    mtls: fc.record({
      enabled: fc.boolean(),
      mode: fc.constantFrom('direct', 'forwarded'),
      autoProvision: fc.boolean(),
      trustForwardedHeaders: fc.boolean(),
      trustedProxies: fc.subarray(['10.0.0.1']),
      allowedIssuers: fc.subarray(['Acme CA']),
    }),
    providers: fc.subarray([okta(), GITHUB]),
    isRestricted: fc.boolean(),
    storesRefreshToken: fc.boolean(),
    isOAuthConfigured: fc.boolean(),
    ui: fc.record({
      autoRedirect: fc.record({
        enabled: fc.boolean(),
        providerId: fc.constantFrom(null, CERTIFICATES, ...IDS),
      }),
    }),
  })
  .map(({ providers, isRestricted, storesRefreshToken, isOAuthConfigured, ...change }) =>
    policyWith({
      ...change,
      providers: providers.map((one) =>
        one.type === 'oidc'
          ? {
              ...(isRestricted ? restrictedOkta : one),
              storeRefreshToken: storesRefreshToken,
              isOAuthConfigured,
            }
          : { ...one, isOAuthConfigured, allowedOrgs: isRestricted ? ['acme'] : [] },
      ),
    }),
  );

/** Changes by which the operator permits an entry that a variable refuses. */
const REMEDIES: Readonly<
  Record<string, (policy: OperatorPolicy, method: string) => OperatorPolicy>
> = {
  SERVICE_PUBLIC_URL: (policy) => ({
    ...policy,
    providers: policy.providers.map((one) => ({ ...one, isOAuthConfigured: true })),
  }),
  AUTH_KEY_CHALLENGE_ENABLED: (policy) => ({
    ...policy,
    auth: { ...policy.auth, keyChallengeEnabled: true },
  }),
  AUTH_ANONYMOUS_SIGNUP_ENABLED: (policy) => ({
    ...policy,
    auth: { ...policy.auth, anonymousSignupEnabled: true },
  }),
  AUTH_SIGNUP_INVITATIONS_ENABLED: (policy) => ({
    ...policy,
    auth: { ...policy.auth, signupInvitationsEnabled: true },
  }),
  AUTH_SIGNUP_PROVIDERS: (policy, method) => ({
    ...policy,
    auth: { ...policy.auth, signupProviders: [method] },
  }),
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: (policy) => ({
    ...policy,
    encryption: { ...policy.encryption, storagePolicy: 'optional' },
  }),
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: (policy) => ({
    ...policy,
    keyless: { ...policy.keyless, accountsEnabled: true },
  }),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: (policy) => keylessOAuth(policy, { enabled: true }),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: (policy, method) =>
    keylessOAuth(policy, { providers: [method] }),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: (policy) =>
    keylessOAuth(policy, { autoProvision: true }),
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: (policy) => ({
    ...policy,
    mtls: { ...policy.mtls, enabled: true },
  }),
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: (policy) => ({
    ...policy,
    mtls: { ...policy.mtls, trustForwardedHeaders: true, trustedProxies: ['10.0.0.1'] },
  }),
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: (policy) => ({
    ...policy,
    mtls: { ...policy.mtls, autoProvision: true },
  }),
};

function keylessOAuth(
  policy: OperatorPolicy,
  change: Partial<OperatorPolicy['keyless']['oauth']>,
): OperatorPolicy {
  return {
    ...policy,
    keyless: { ...policy.keyless, oauth: { ...policy.keyless.oauth, ...change } },
  };
}

/** Returns the switches that must change until the entry is allowed. */
function remedy(policy: OperatorPolicy, { method, action, mode }: AdmissionEntry): string[] {
  const changed: string[] = [];
  for (let changing = policy; ;) {
    const decision = judgeAdmission(admissionTable(changing), method, action, mode);
    if (decision.isAllowed) {
      return changed;
    }
    const { variable } = decision;
    // A switch that refuses again after it was changed was not the reason.
    expect(changed).not.toContain(variable);
    changed.push(variable);
    changing = REMEDIES[variable]?.(changing, method) ?? changing;
  }
}

/** Returns the sign-up methods that older clients read; an invitation is in no other list. */
function signupMethodsOf(allowed: readonly AuthMethod[]): object[] {
  const keyed = allowed.filter(({ action, mode }) => action === 'provision' && mode === 'keyed');
  const ids = keyed.map(({ method }) => method).filter((method) => method !== 'key_challenge');
  return [
    { id: 'anonymous', enabled: ids.length < keyed.length },
    ...ids.map((id) => ({ id, enabled: true })),
  ];
}

/** Returns the violations of rules that hold under every policy. */
function violationsOf(policy: OperatorPolicy): string[] {
  const { auth, encryption, mtls, providers } = policy;
  const table = admissionTable(policy);
  const allowed = allowedMethods(table);
  const codes = new Set(findLockouts(policy).map(({ code }) => code));
  const { auth: discovered } = featureDocument(policy, '1.0.0').capabilities;
  const has = (wanted: string): boolean => allowed.some(({ action }) => action === wanted);
  const violations = allowed.flatMap(({ method, action, mode, restricted }) => {
    const provider = providers.find(({ id }) => id === method);
    const isRechecked =
      auth.offboarding.enabled &&
      (provider === undefined ? method === CERTIFICATES : capabilitiesOf(provider).isRecheckable);
    const isNamed = [
      ...['allowlists-without-offboarding', 'allowlist-not-checked-again'],
      ...['keyless-without-offboarding', 'keyless-not-checked-again'],
      'certificates-not-checked-again',
    ].some((code) => codes.has(code));
    const isOpened = mode === 'keyless' || restricted === true;
    const rules: [string, boolean][] = [
      [
        'an account that is created and never used again',
        action === 'provision' &&
          !judgeAdmission(table, mode === 'keyed' ? 'key_challenge' : method, 'login', mode)
            .isAllowed,
      ],
      ['plain content', mode === 'keyless' && encryption.storagePolicy === 'required_e2ee'],
      [
        'encrypted content',
        action === 'provision' && mode === 'keyed' && encryption.storagePolicy === 'plaintext_only',
      ],
      [
        'a login method without a way to deprovision, and no finding about it',
        action !== 'connect' && method !== 'key_challenge' && isOpened && !isRechecked && !isNamed,
      ],
      ['certificates that cannot arrive', method === CERTIFICATES && !isMtlsReachable(mtls)],
    ];
    return rules.flatMap(([name, isBroken]) => (isBroken ? [`${method} ${action}: ${name}`] : []));
  });
  return [
    ...violations,
    ...(codes.has('no-login-method') === has('login') ? ['no-login-method'] : []),
    ...(codes.has('no-signup-method') === has('provision') ? ['no-signup-method'] : []),
    ...(isDeepStrictEqual(
      discovered.methods,
      allowed.filter(({ method }) => method !== INVITATION),
    )
      ? []
      : ['discovery']),
    ...(isDeepStrictEqual(discovered['signup'], { methods: signupMethodsOf(allowed) })
      ? []
      : ['discovery of sign-up']),
  ];
}

describe('the admission table', () => {
  it(`holds its invariants for ${RUNS} random policies`, () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        expect(violationsOf(policy)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('names the variable that refuses an entry, and no other', () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        for (const entry of admissionTable(policy)) {
          expect(Object.keys(REMEDIES)).toEqual(expect.arrayContaining(remedy(policy, entry)));
        }
      }),
    );
  });
});
