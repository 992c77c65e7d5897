import {
  begin,
  logInAtProvider,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const usersAllowlist = ['boss@acme.example', 'sub:anna', 'login:Berta', 'sub:out', 'clara'];
const fixture = await startLoginFixture({ entry: { allow: { usersAllowlist } } });
afterAll(() => fixture.stop());

describe('a list of users', () => {
  it.each([
    // At this provider people choose subject and login; the verified address is `<login>@acme.example`.
    ['boss@acme.example', 'not_eligible'],
    ['BOSS@acme.example', 'not_eligible'],
    ['sub:anna', 'not_eligible'],
    ['dora', 'not_eligible'],
    ['anna', undefined],
    ['berta', undefined],
    ['clara', undefined],
  ])('answers %s with the error %s', async (user, error) => {
    const back = await logInAtProvider((await begin(fixture.server)).url, user);
    expect(back['error']).toBe(error);
    expect('pending' in back).toBe(error === undefined);
  });
});
