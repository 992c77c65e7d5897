import type { ContentDecision } from '../content.js';
import { judgeStoredMode } from '../content.js';
import type { AccountMode, EncryptionRules, KeyMode } from '../operator-policy.js';

/** The operator's decisions about the encryption of accounts that these rules read. */
export type AccountEncryptionRules = Pick<
  EncryptionRules,
  'storagePolicy' | 'defaultAccountMode' | 'allowAccountOptOut'
>;

export type ModeDecision =
  | Exclude<ContentDecision, { readonly code: 'content-mode-mismatch' }>
  | {
      readonly isAllowed: false;
      readonly code: 'account-optout-disabled' | 'keyless-stays-plain';
    };

const ALLOWED: ModeDecision = { isAllowed: true };

/** How a new account with device keys is encrypted (specification, default account mode). */
export function newKeyedAccountMode(rules: AccountEncryptionRules): AccountMode {
  switch (rules.storagePolicy) {
    case 'required_e2ee':
      return 'e2ee';
    case 'plaintext_only':
      return 'plain';
    case 'optional':
      return rules.defaultAccountMode;
  }
}

/** Whether an account may change its mode at will: only where the policy leaves a choice. */
export function judgeModeSwitch(
  rules: AccountEncryptionRules,
  keyMode: KeyMode,
  toMode: AccountMode,
): ModeDecision {
  if (rules.storagePolicy !== 'optional' || !rules.allowAccountOptOut) {
    return { isAllowed: false, code: 'account-optout-disabled' };
  }
  return judgeKeys(keyMode, toMode);
}

/**
 * Whether an account may bring what it stores into another mode. Into the one mode that the policy
 * leaves it always may: accounts from before the policy changed have no other way to write again.
 */
export function judgeMigration(
  rules: AccountEncryptionRules,
  keyMode: KeyMode,
  toMode: AccountMode,
): ModeDecision {
  if (rules.storagePolicy === 'optional') {
    return judgeModeSwitch(rules, keyMode, toMode);
  }
  const stored = judgeStoredMode(rules.storagePolicy, toMode);
  return stored.isAllowed ? judgeKeys(keyMode, toMode) : stored;
}

/** Without a device key there is nothing to encrypt with. */
function judgeKeys(keyMode: KeyMode, toMode: AccountMode): ModeDecision {
  return keyMode === 'keyless' && toMode === 'e2ee'
    ? { isAllowed: false, code: 'keyless-stays-plain' }
    : ALLOWED;
}
