import type { AccountMode, EncryptionRules, KeyMode, StoragePolicy } from '../operator-policy.js';

export type AccountEncryptionRules = Pick<
  EncryptionRules,
  'storagePolicy' | 'defaultAccountMode' | 'allowAccountOptOut'
>;

export type ContentDecision =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly code:
        | 'encrypted-writes-disabled'
        | 'plaintext-writes-disabled'
        | 'content-mode-mismatch';
    };

export type ModeDecision =
  | Exclude<ContentDecision, { readonly code: 'content-mode-mismatch' }>
  | {
      readonly isAllowed: false;
      readonly code: 'account-optout-disabled' | 'keyless-stays-plain';
    };

const ALLOWED = { isAllowed: true } as const;

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

/** A mode can be chosen only where the policy leaves a choice. */
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

/** Earlier accounts may always move into a policy's one mode: else they could not write. */
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

/** Without a device key, content cannot be encrypted. */
function judgeKeys(keyMode: KeyMode, toMode: AccountMode): ModeDecision {
  return keyMode === 'keyless' && toMode === 'e2ee'
    ? { isAllowed: false, code: 'keyless-stays-plain' }
    : ALLOWED;
}

/** The policy of the server is judged before the mode of the account. */
export function judgeContentWrite(
  policy: StoragePolicy,
  accountMode: AccountMode,
  contentMode: AccountMode,
): ContentDecision {
  const stored = judgeStoredMode(policy, contentMode);
  if (!stored.isAllowed) {
    return stored;
  }
  return contentMode === accountMode
    ? ALLOWED
    : { isAllowed: false, code: 'content-mode-mismatch' };
}

function judgeStoredMode(policy: StoragePolicy, mode: AccountMode): ContentDecision {
  if (mode === 'e2ee' && policy === 'plaintext_only') {
    return { isAllowed: false, code: 'encrypted-writes-disabled' };
  }
  if (mode === 'plain' && policy === 'required_e2ee') {
    return { isAllowed: false, code: 'plaintext-writes-disabled' };
  }
  return ALLOWED;
}
