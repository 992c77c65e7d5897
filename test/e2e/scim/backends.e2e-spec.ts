import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { endedIn, EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { backends, backendToken, exchange } from '../../fixtures/resource-server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { refusalOf } from '../../helpers/client.js';

const setup = backends([{ id: 'relay', requireProviders: ['people'] }]);

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const env = {
  ...setup.env,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
  AUTH_REQUIRED_LOGIN_PROVIDERS: '',
};
const server = await fixture.start(env);
afterAll(() => fixture.close());

describe('a backend that requires the provider of a directory', () => {
  it('learns that the directory deactivated a person whose account goes on', async () => {
    const person = await fixture.person(server);
    const token = await backendToken(server, person.token, 'relay');
    const stream = await EventStreamFixture.open(server, setup, 'relay');
    const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });

    const inactive = [{ op: 'replace', value: { active: false } }];
    expect((await scim.patch(server, id, inactive)).status).toBe(200);
    const sid = String(decodeJwt(token)['sid']);
    expect(endedIn(await stream.until(sid))).toContain(sid);
    expect(refusalOf(await exchange(server, person.token, 'relay'))).toMatchObject({
      status: 400,
      code: 'not-eligible',
    });
    expect(await fixture.statusOf(server, person)).toBe(200);
  });

  it('learns that the directory, which never showed a person, is required now', async () => {
    const person = await fixture.person(server);
    const token = await backendToken(server, person.token, 'relay');
    const stream = await EventStreamFixture.open(server, setup, 'relay');
    await scim.add(server, { userName: randomUUID() });
    await fixture.stopReplicas();
    const restarted = await fixture.start({
      ...env,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ required: true }),
    });
    const sid = String(decodeJwt(token)['sid']);
    expect(endedIn(await stream.at(restarted).until(sid))).toContain(sid);
  });
});
