import type { ContentDecision } from './content.js';
import { judgeStoredMode } from './content.js';
import type { AccountMode, KeyMode, StoragePolicy } from './storage-policy.js';

/** What the operator decided about accounts' encryption. */
export interface EncryptionFacts {
  readonly storagePolicy: StoragePolicy;
  /** Asked only where the policy is `optional`. */
  readonly defaultAccountMode: AccountMode;
  readonly allowAccountOptOut: boolean;
}

export type ModeDecision =
  | Exclude<ContentDecision, { readonly code: 'content-mode-mismatch' }>
  | {
      readonly isAllowed: false;
      readonly code: 'account-optout-disabled' | 'keyless-stays-plain';
    };

const ALLOWED: ModeDecision = { isAllowed: true };

/** How a new account with device keys is encrypted (specification, default account mode). */
export function newKeyedAccountMode(facts: EncryptionFacts): AccountMode {
  switch (facts.storagePolicy) {
    case 'required_e2ee':
      return 'e2ee';
    case 'plaintext_only':
      return 'plain';
    case 'optional':
      return facts.defaultAccountMode;
  }
}

/** Whether an account may change its mode at will: only where the policy leaves a choice. */
export function judgeModeSwitch(
  facts: EncryptionFacts,
  keyMode: KeyMode,
  toMode: AccountMode,
): ModeDecision {
  if (facts.storagePolicy !== 'optional' || !facts.allowAccountOptOut) {
    return { isAllowed: false, code: 'account-optout-disabled' };
  }
  return judgeKeys(keyMode, toMode);
}

/**
 * Whether an account may bring what it stores into another mode. Into the one mode that the policy
 * leaves it always may: accounts from before the policy changed have no other way to write again.
 */
export function judgeMigration(
  facts: EncryptionFacts,
  keyMode: KeyMode,
  toMode: AccountMode,
): ModeDecision {
  if (facts.storagePolicy === 'optional') {
    return judgeModeSwitch(facts, keyMode, toMode);
  }
  const stored = judgeStoredMode(facts.storagePolicy, toMode);
  return stored.isAllowed ? judgeKeys(keyMode, toMode) : stored;
}

/** Without a device key there is nothing to encrypt with. */
function judgeKeys(keyMode: KeyMode, toMode: AccountMode): ModeDecision {
  return keyMode === 'keyless' && toMode === 'e2ee'
    ? { isAllowed: false, code: 'keyless-stays-plain' }
    : ALLOWED;
}
