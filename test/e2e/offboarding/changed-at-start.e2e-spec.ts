import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

const fixture = await OffboardingFixture.open();
afterAll(() => fixture.close());

describe('allow rules that changed while no server ran', () => {
  it('ends the sessions of people that they refuse, and checks no others', async () => {
    const before = await fixture.start(KEYLESS);
    const refused = await fixture.keylessLogin(before);
    const other = await fixture.keylessLogin(before);
    expect(await fixture.statusOf(before, refused)).toBe(200);
    await fixture.stopReplicas();
    const allow = { groupsAny: ['staff'], usersAllowlist: [`sub:${other.sub}`] };
    const changed = { ...KEYLESS, AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({ allow }) };
    const next = await fixture.start(changed);
    await fixture.until('403', async () => (await fixture.statusOf(next, refused)) === 403);
    expect(await fixture.statusOf(next, other)).toBe(200);
    expect(fixture.provider.checks.has(other.sub)).toBe(false);
  });
});
