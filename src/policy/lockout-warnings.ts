import {
  keyedPossible,
  keyedSignupProviders,
  keylessProviders,
  mtlsPossible,
  type AccessPolicyFacts,
} from './access-facts.js';
import { notConfigured, when, type LockoutRule } from './lockout-rule.js';
import { USER_LIST_WARNINGS } from './lockout-user-lists.js';

/** Combinations that work, and are probably not what was meant. */
export const LOCKOUT_WARNINGS: readonly LockoutRule[] = [
  {
    code: 'nobody-can-sign-up',
    find: (facts) =>
      when(
        !canSignUp(facts),
        'Nobody can create an account: anonymous sign-up is off and no provider or certificate may create one.',
      ),
  },
  {
    code: 'keyless-oauth-without-providers',
    find: (facts) =>
      when(
        facts.keylessOauth.enabled && facts.keylessOauth.providers.length === 0,
        'Keyless OAuth login is on, but SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS is empty: an empty list allows nobody.',
      ),
  },
  {
    code: 'signup-provider-on-plaintext-only',
    find: (facts) =>
      when(
        facts.signupProviders.length > 0 && facts.storagePolicy === 'plaintext_only',
        'AUTH_SIGNUP_PROVIDERS creates keyed accounts, which a plaintext_only server does not offer: use keyless auto-provisioning.',
      ),
  },
  {
    code: 'client-challenges-accepted',
    find: (facts) =>
      when(
        facts.keyChallengeEnabled && !facts.requireServerChallenge,
        'AUTH_REQUIRE_SERVER_CHALLENGE is false: a login with a challenge that the client made never expires: a captured one can be sent again and again, each time for a new token. Set it to true once all clients ask /v1/auth/challenge.',
      ),
  },
  {
    code: 'anonymous-signup-on-public-server',
    find: (facts) =>
      when(
        facts.anonymousSignupEnabled && facts.keyChallengeEnabled && facts.publiclyAddressed,
        'SERVICE_PUBLIC_URL looks public and anonymous sign-up is on: anyone on the internet can create an account.',
      ),
  },
  {
    code: 'anonymous-signup-beside-required-provider',
    find: (facts) =>
      when(
        facts.anonymousSignupEnabled && facts.requiredLoginProviders.length > 0,
        'Anonymous sign-up is on although a provider is required: anyone can create accounts, which are of no use until the provider is connected.',
      ),
  },
  {
    code: 'required-provider-unrestricted',
    find: (facts) =>
      unrestricted(facts).map(
        (id) =>
          `${id} is required but has no allowlist: anyone with an identity there is eligible.`,
      ),
  },
  {
    code: 'offboarding-without-allowlists',
    find: (facts) =>
      when(
        facts.offboarding.enabled && facts.restrictedProviders.length === 0,
        'Offboarding is on, but no provider has an allowlist: only identities that disappear lose access.',
      ),
  },
  {
    code: 'allowlists-without-offboarding',
    find: (facts) =>
      when(
        !facts.offboarding.enabled && facts.restrictedProviders.length > 0,
        'A provider has an allowlist, but offboarding is off: who leaves it keeps access.',
      ),
  },
  {
    code: 'allowlist-not-checked-again',
    find: (facts) =>
      facts.offboarding.enabled
        ? facts.uncheckableProviders.map(
            (id) =>
              `${id} has an allowlist and stores no refresh token: who leaves it keeps access until the next login there. Set storeRefreshToken.`,
          )
        : [],
  },
  ...USER_LIST_WARNINGS,
  {
    code: 'opt-out-without-optional-policy',
    find: (facts) =>
      when(
        facts.allowAccountOptOut && facts.storagePolicy !== 'optional',
        'SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT has an effect only with the storage policy optional.',
      ),
  },
  {
    code: 'auto-redirect-target-unavailable',
    find: (facts) => {
      const id = facts.autoRedirectProviderId;
      const lost =
        id === 'mtls' ? !mtlsPossible(facts) : notConfigured(facts, [id ?? '']).length > 0;
      return when(
        id !== null && lost,
        `The automatic redirect goes to ${id}, which is not available: clients show the choice instead.`,
      );
    },
  },
];

function canSignUp(facts: AccessPolicyFacts): boolean {
  return (
    (facts.anonymousSignupEnabled && keyedPossible(facts)) ||
    keyedSignupProviders(facts).length > 0 ||
    (facts.keylessOauth.autoProvision && keylessProviders(facts).length > 0) ||
    (facts.mtls.autoProvision && mtlsPossible(facts))
  );
}

function unrestricted(facts: AccessPolicyFacts): string[] {
  return facts.requiredLoginProviders.filter(
    (id) => facts.configuredProviders.includes(id) && !facts.restrictedProviders.includes(id),
  );
}
