import type { AccountMode, StoragePolicy } from '../policy/storage-policy.js';
import { chooseProvisioning, type ProvisioningChoice } from './provisioning-choice.js';

const ASK: ProvisioningChoice = { kind: 'ask', modes: ['e2ee', 'plain'] };
const E2EE: ProvisioningChoice = { kind: 'selected', mode: 'e2ee' };
const PLAIN: ProvisioningChoice = { kind: 'selected', mode: 'plain' };
const NONE: ProvisioningChoice = { kind: 'none' };

describe('OAuth provisioning choice', () => {
  it.each<[string, StoragePolicy, AccountMode[], ProvisioningChoice]>([
    ['1: optional lets the person choose', 'optional', ['e2ee', 'plain'], ASK],
    ['2: both ways show the choice, in one order', 'optional', ['plain', 'e2ee'], ASK],
    ['2: keyed alone is selected without a screen', 'optional', ['e2ee'], E2EE],
    ['2: keyless alone is selected without a screen', 'optional', ['plain'], PLAIN],
    ['2: no way is no choice', 'optional', [], NONE],
    ['3: plaintext_only chooses plain', 'plaintext_only', ['e2ee', 'plain'], PLAIN],
    ['3: plaintext_only chooses plain where it stands alone', 'plaintext_only', ['plain'], PLAIN],
    ['3: plaintext_only never falls back to e2ee', 'plaintext_only', ['e2ee'], NONE],
    ['3: required_e2ee does not offer plain', 'required_e2ee', ['e2ee', 'plain'], E2EE],
    ['3: required_e2ee does not offer plain alone', 'required_e2ee', ['plain'], NONE],
  ])('%s', (_rule, policy, offered, choice) => {
    expect(chooseProvisioning(policy, offered)).toEqual(choice);
  });
});
