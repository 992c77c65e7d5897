import { GITHUB, okta, policyWith, relay } from '../../../../test/fixtures/policy-fixture.js';
import { policyStatements } from '../findings/describe-policy.js';
import { changesOf } from './policy-changes.js';

describe('changesOf', () => {
  const PRESENT = policyStatements(
    policyWith({ providers: [okta({ allow: { groupsAny: ['engineering'] } }), GITHUB] }),
  );

  it('shows the values of a changed allow rule, before and after', () => {
    const allow = { groupsAny: ['platform'], emailDomains: ['corp.example'] };
    const planned = policyStatements(policyWith({ providers: [okta({ allow }), GITHUB] }));
    expect(changesOf(PRESENT, planned)).toEqual([
      expect.objectContaining({
        ...{ kind: 'rule', provider: 'okta', rule: 'groupsAny' },
        ...{ before: ['engineering'], after: ['platform'] },
      }),
      expect.objectContaining({ rule: 'emailDomains', before: [], after: ['corp.example'] }),
    ]);
  });

  it('pairs the sentences about the same subject', () => {
    const auth = { requiredLoginProviders: ['okta'], anonymousSignupEnabled: false };
    const before = policyStatements(policyWith({ resourceServers: [relay()] }));
    const after = policyStatements(
      policyWith({ auth, resourceServers: [relay({ allowKeyless: false })] }),
    );
    const codes = changesOf(before, after).map((change) =>
      change.kind === 'rule' ? [] : [change.before?.code, change.after?.code],
    );
    expect(codes).toEqual([
      ['signup-open', 'signup-refused'],
      ['required-none', 'required-providers'],
      ['resource-server', 'resource-server'],
    ]);
    expect(changesOf(before, before)).toEqual([]);
  });
});
