import {
  judgeContentWrite,
  judgeMigration,
  judgeModeSwitch,
  newKeyedAccountMode,
  type AccountEncryptionRules,
} from './encryption.js';

const OPTIONAL: AccountEncryptionRules = {
  storagePolicy: 'optional',
  defaultAccountMode: 'e2ee',
  allowAccountOptOut: true,
};
const REQUIRED: AccountEncryptionRules = { ...OPTIONAL, storagePolicy: 'required_e2ee' };
const PLAINTEXT: AccountEncryptionRules = { ...OPTIONAL, storagePolicy: 'plaintext_only' };
const NO_OPT_OUT: AccountEncryptionRules = { ...OPTIONAL, allowAccountOptOut: false };

const ALLOWED = { isAllowed: true };
const refused = (code: string) => ({ isAllowed: false, code });

describe('newKeyedAccountMode', () => {
  it.each(['e2ee', 'plain'] as const)(
    'uses the default (%s) where the policy permits a choice',
    (mode) => {
      expect(newKeyedAccountMode({ ...OPTIONAL, defaultAccountMode: mode })).toBe(mode);
      expect(newKeyedAccountMode({ ...REQUIRED, defaultAccountMode: mode })).toBe('e2ee');
      expect(newKeyedAccountMode({ ...PLAINTEXT, defaultAccountMode: mode })).toBe('plain');
    },
  );
});

describe('judgeModeSwitch', () => {
  it('requires a policy that permits a choice, and opt-out', () => {
    expect(judgeModeSwitch(OPTIONAL, 'keyed', 'plain')).toEqual(ALLOWED);
    for (const facts of [NO_OPT_OUT, REQUIRED, PLAINTEXT]) {
      expect(judgeModeSwitch(facts, 'keyed', 'plain')).toEqual(refused('account-optout-disabled'));
    }
  });

  it('keeps an account without a device key plain', () => {
    expect(judgeModeSwitch(OPTIONAL, 'keyless', 'e2ee')).toEqual(refused('keyless-stays-plain'));
    expect(judgeModeSwitch(OPTIONAL, 'keyless', 'plain')).toEqual(ALLOWED);
  });
});

describe('judgeMigration', () => {
  it('permits a migration into the only mode of the policy', () => {
    const closed = { ...REQUIRED, allowAccountOptOut: false };
    expect(judgeMigration(closed, 'keyed', 'e2ee')).toEqual(ALLOWED);
    expect(judgeMigration(closed, 'keyed', 'plain')).toEqual(refused('plaintext-writes-disabled'));
    expect(judgeMigration(PLAINTEXT, 'keyed', 'plain')).toEqual(ALLOWED);
    expect(judgeMigration(PLAINTEXT, 'keyed', 'e2ee')).toEqual(
      refused('encrypted-writes-disabled'),
    );
    expect(judgeMigration(REQUIRED, 'keyless', 'e2ee')).toEqual(refused('keyless-stays-plain'));
  });

  it('follows the rules of a switch where the policy permits a choice', () => {
    expect(judgeMigration(OPTIONAL, 'keyed', 'plain')).toEqual(ALLOWED);
    expect(judgeMigration(NO_OPT_OUT, 'keyed', 'plain')).toEqual(
      refused('account-optout-disabled'),
    );
  });
});

describe('judgeContentWrite', () => {
  it.each([
    ['optional', 'e2ee', 'e2ee', ALLOWED],
    ['optional', 'plain', 'plain', ALLOWED],
    ['required_e2ee', 'e2ee', 'e2ee', ALLOWED],
    ['plaintext_only', 'plain', 'plain', ALLOWED],
    ['optional', 'e2ee', 'plain', refused('content-mode-mismatch')],
    ['optional', 'plain', 'e2ee', refused('content-mode-mismatch')],
    ['required_e2ee', 'plain', 'e2ee', refused('content-mode-mismatch')],
    // The policy is judged before the mode of the account.
    ['required_e2ee', 'plain', 'plain', refused('plaintext-writes-disabled')],
    ['required_e2ee', 'e2ee', 'plain', refused('plaintext-writes-disabled')],
    ['plaintext_only', 'e2ee', 'e2ee', refused('encrypted-writes-disabled')],
  ] as const)(
    'judges on %s, in an account of %s, content of %s',
    (policy, account, content, to) => {
      expect(judgeContentWrite(policy, account, content)).toEqual(to);
    },
  );
});
