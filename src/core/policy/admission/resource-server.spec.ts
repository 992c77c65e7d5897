import type { IdentityFacts } from './access.js';
import { judgeResource, type ResourceServerRules } from './resource-server.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const OFFBOARDING = { enabled: true, intervalSeconds: 3600, strict: false };

const rules = (changed: Partial<ResourceServerRules> = {}): ResourceServerRules => ({
  ...{ id: 'relay', requireProviders: [], allowKeyless: true },
  ...changed,
});

const identity = (provider: string, changed: Partial<IdentityFacts> = {}): IdentityFacts => ({
  ...{ provider, status: 'eligible', reason: null, checkedAt: NOW, failures: 0 },
  ...changed,
});

const judge = (
  rules: ResourceServerRules,
  identities: readonly IdentityFacts[],
  { isKeyless = false, required = [] as readonly string[] } = {},
) => judgeResource(rules, required, { isKeyless, identities }, OFFBOARDING, NOW);

describe('judgeResource', () => {
  it('allows an account with a device key where nothing is required', () => {
    expect(judge(rules(), [])).toMatchObject({ isAllowed: true });
  });

  it('requires the providers of the entry', () => {
    const okta = rules({ requireProviders: ['okta'] });
    expect(judge(okta, [])).toEqual({
      ...{ isAllowed: false, code: 'provider-required', provider: 'okta' },
    });
    expect(judge(okta, [identity('okta')])).toMatchObject({ isAllowed: true });
    expect(judge(okta, [identity('okta', { status: 'ineligible' })])).toEqual({
      ...{ isAllowed: false, code: 'not-eligible', provider: 'okta' },
    });
  });

  it('requires the providers of the server before those of the entry', () => {
    const okta = rules({ requireProviders: ['okta'] });
    expect(judge(okta, [identity('okta')], { required: ['github'] })).toMatchObject({
      ...{ code: 'provider-required', provider: 'github' },
    });
  });

  it('refuses keyless accounts where the entry says so', () => {
    const keyed = rules({ allowKeyless: false });
    const isKeyless = true;
    expect(judge(keyed, [identity('okta')], { isKeyless })).toEqual({
      ...{ isAllowed: false, code: 'keyless-disabled', provider: null },
    });
    expect(judge(rules(), [identity('okta')], { isKeyless })).toMatchObject({ isAllowed: true });
    expect(judge(keyed, [])).toMatchObject({ isAllowed: true });
  });

  it('reports an identity that is not eligible before the kind of the account', () => {
    const identities = [identity('okta', { status: 'ineligible' })];
    expect(judge(rules({ allowKeyless: false }), identities, { isKeyless: true })).toMatchObject({
      code: 'not-eligible',
    });
  });
});
