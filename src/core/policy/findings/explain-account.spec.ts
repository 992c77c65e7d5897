import { okta, policyWith, relay } from '../../../../test/fixtures/policy-fixture.js';
import { explainAccount } from './explain-account.js';

const NOW = 1_800_000_000_000;
const REFUSED = {
  provider: 'okta',
  subject: 's',
  login: 'jo@example.com',
  status: 'ineligible',
  reason: 'not a member',
  checkedAt: NOW,
  nextCheckAt: null,
  failures: 0,
  facts: null,
  certificate: null,
} as const;

const explain = (requiredLoginProviders: readonly string[]) =>
  explainAccount(
    policyWith({
      auth: { requiredLoginProviders },
      keyless: { accountsEnabled: true },
      providers: [okta()],
    }),
    { keyMode: 'keyless', disabledAt: null, identities: [REFUSED] },
    NOW,
  );

describe(explainAccount, () => {
  it('calls a provider required only if the policy requires it', () => {
    const optional = explain([]);
    expect(optional).toMatchObject({ code: 'not-eligible', providers: [{ isRequired: false }] });
    expect(optional.reasons).toContain(
      'None of the identities with which it can sign in is eligible.',
    );
    expect(optional.reasons.join()).not.toContain('okta is required');
    const required = explain(['okta']);
    expect(required).toMatchObject({ code: 'not-eligible', providers: [{ isRequired: true }] });
    expect(required.reasons).toContain('okta is required, and does not confirm its identity.');
  });

  describe('the backends', () => {
    const at = (changes: Parameters<typeof relay>[0], disabledAt: number | null = null) =>
      explainAccount(
        policyWith({ providers: [okta()], resourceServers: [relay(changes)] }),
        { keyMode: 'keyed', disabledAt, identities: [REFUSED] },
        NOW,
      ).resourceServers;

    it('judges them by their own rules too', () => {
      expect(at({})).toMatchObject([
        { id: 'relay', isAllowed: true, code: null, sentence: 'Relay: its sessions get tokens.' },
      ]);
      expect(at({ requireProviders: ['okta'] })).toMatchObject([
        {
          ...{ isAllowed: false, code: 'not-eligible', provider: 'okta' },
          sentence: 'Relay: its sessions get no token (okta: not-eligible).',
        },
      ]);
      expect(at({ requireProviders: ['github'] })).toMatchObject([
        { isAllowed: false, code: 'provider-required', provider: 'github' },
      ]);
    });

    it('names the programs that act there, each once', () => {
      const grant = { resourceServer: 'relay', clientId: 'inspector', clientName: 'Inspector' };
      const grants = [grant, grant, { ...grant, resourceServer: 'gone' }];
      const { reasons } = explainAccount(
        policyWith({ resourceServers: [relay()] }),
        { keyMode: 'keyed', disabledAt: null, identities: [], grants },
        NOW,
      );
      expect(reasons.filter((reason) => reason.includes('Inspector'))).toEqual([
        'Relay: programs act for the person there: Inspector (inspector).',
      ]);
    });

    it('refuses a disabled account as such', () => {
      expect(at({}, NOW)).toMatchObject([
        { isAllowed: false, code: 'account-disabled', provider: null },
      ]);
    });
  });
});
