import type { AccessPolicyFacts } from '../../src/policy/access-facts.js';

/** What the rules see of a server on which nothing is set. */
export const DEFAULT_POLICY: AccessPolicyFacts = {
  anonymousSignupEnabled: true,
  signupProviders: [],
  requiredLoginProviders: [],
  configuredProviders: [],
  restrictedProviders: [],
  uncheckableProviders: [],
  userLists: [],
  keyChallengeEnabled: true,
  requireServerChallenge: true,
  storagePolicy: 'required_e2ee',
  allowAccountOptOut: false,
  keylessAccountsEnabled: false,
  keylessOauth: { enabled: false, providers: [], autoProvision: false },
  mtls: { enabled: false, autoProvision: false, reachable: false },
  offboarding: { enabled: false, intervalSeconds: 86_400, strict: false },
  autoRedirectProviderId: null,
  plainContentSealed: true,
  publiclyAddressed: false,
  everyPeerTrusted: false,
};
