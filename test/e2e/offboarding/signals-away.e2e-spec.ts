import { randomUUID } from 'node:crypto';
import { SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { connect } from '../../helpers/client-live.js';
import type { Json } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
/** The shortest that the server accepts. */
const INTERVAL_SECONDS = 60;

describe('while directory and transmitter are away', () => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let transmitter: SsfTransmitter;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    transmitter = await SsfTransmitter.start(AUDIENCE);
  });
  afterAll(async () => {
    await fixture.close();
    await transmitter.close();
  });

  /** A directory with the same people, and a stream that is polled. */
  function env(): Record<string, string> {
    const [people] = JSON.parse(scim.providers({ required: true })) as [Json];
    const sharedSignals = {
      ...{ transmitter: transmitter.issuer, audience: AUDIENCE, delivery: 'poll' },
      managementToken: 'a-management-token-of-the-spec-of-streams',
    };
    const signals = { ...(people['signals'] as Json), sharedSignals };
    return {
      ...KEYLESS,
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'people',
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([{ ...people, signals }]),
      AUTH_OFFBOARDING_INTERVAL_SECONDS: String(INTERVAL_SECONDS),
    };
  }

  it('ends the access of a leaver at the scheduled re-check, within the interval', async () => {
    const server = await fixture.start(env());
    const cli = await createCliUser();
    const variables = { ...fixture.env, ...env(), ...fixture.store.env };
    expect((await cli.run(['signals', 'connect', 'people'], variables)).code).toBe(0);
    const [sub, colleague] = [randomUUID(), randomUUID()];
    for (const externalId of [sub, colleague]) {
      await scim.add(server, { userName: externalId, externalId });
    }
    const leaver = await fixture.keylessLogin(server, sub);
    const stays = await fixture.keylessLogin(server, colleague);
    const live = await connect(server, { token: leaver.token });
    await live.next('hello');

    transmitter.isDown = true;
    fixture.provider.groups.delete(sub);
    const schedule = await fixture.sql.query<Json>(
      `SELECT eligibility_next_check_at <= eligibility_checked_at + $1 * interval '1 second'
         AS is_within, eligibility_next_check_at > now() AS is_later
       FROM identity WHERE subject = $2`,
      [INTERVAL_SECONDS, sub],
    );
    expect(schedule.rows).toEqual([{ is_within: true, is_later: true }]);

    const failure = async (): Promise<unknown> =>
      (await fixture.sql.query<{ failure: unknown }>('SELECT failure FROM signal_stream')).rows[0]
        ?.failure;
    await fixture.until('a poll fails', async () => (await failure()) === 'server_error');
    // The time of the check comes.
    await fixture.makeDue();
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    expect(await fixture.statusOf(server, leaver)).toBe(403);
    expect(await fixture.statusOf(server, stays)).toBe(200);
    expect(await failure()).toBe('server_error');
    const lost = await fixture.sql.query<Json>(
      `SELECT kind, issuer FROM audit_event
       WHERE account_id = $1 AND kind IN ('eligibility-lost', 'directory-deactivated')`,
      [leaver.accountId],
    );
    expect(lost.rows).toEqual([{ kind: 'eligibility-lost', issuer: null }]);
  });
});
