import { keylessProviders } from './access-facts.js';
import { when, type LockoutRule } from './lockout-rule.js';

const UPGRADE = 'Bring all clients up to date first: docs/upgrade.md.';

/** What works as it was meant, and clients of before do not understand (specification, Versioning). */
export const LOCKOUT_NOTICES: readonly LockoutRule[] = [
  {
    code: 'older-clients-on-plaintext-only',
    find: (facts) =>
      when(
        facts.storagePolicy === 'plaintext_only',
        `The storage policy is plaintext_only: older clients fail when what they encrypt is refused. ${UPGRADE}`,
      ),
  },
  {
    code: 'older-clients-on-keyless-provisioning',
    find: (facts) =>
      when(
        facts.keylessOauth.autoProvision && keylessProviders(facts).length > 0,
        `Keyless OAuth auto-provisioning is on: older clients show no button for it, or fail to sign in. ${UPGRADE}`,
      ),
  },
];
