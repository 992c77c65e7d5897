import { randomUUID } from 'node:crypto';
import { call, refusalOf } from '../../helpers/client.js';
import { connect, refusedConnect } from '../../helpers/client-live.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';

const NEEDS_LOGIN = { status: 403, code: 'provider-required' };

describe('a provider that gives no refresh token, and is required', () => {
  let fixture: OffboardingFixture;
  let one: Server;
  let other: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    fixture.provider.givesRefreshTokens = false;
    const env = { SERVICE_UPDATES_TRANSPORTS: 'websocket,polling' };
    one = await fixture.start(env);
    other = await fixture.another(env);
  });
  afterAll(() => fixture.close());

  const connected = async (sub: string): Promise<Person> => {
    const login = await fixture.person(one);
    const { token } = login;
    await call(one, 'DELETE', '/v1/connect/external/people', { token });
    expect((await fixture.connect(one, login, 'people', sub)).status).toBe(200);
    return { ...login, sub };
  };

  it('counts the login for one interval, then asks every replica for another one', async () => {
    const sub = randomUUID();
    const person = await connected(sub);
    const sockets = [
      await connect(one, { token: person.token }),
      await connect(other, { token: person.token }, { transports: ['polling'] }),
    ];
    for (const socket of sockets) {
      await socket.next('hello');
    }
    // The first check comes before the interval has passed: the login still counts.
    await fixture.makeDue();
    await fixture.until('asked', async () => (await eligibility(person))?.reason !== null);
    expect(await eligibility(person)).toMatchObject({
      status: 'eligible',
      reason: 'no_refresh_token',
    });
    expect([await fixture.statusOf(one, person), await fixture.statusOf(other, person)]).toEqual([
      200, 200,
    ]);

    await fixture.makeDue(3600);
    const refusal = { statusCode: 403, code: 'provider-required', provider: 'people' };
    for (const socket of sockets) {
      expect(await socket.next('closing')).toMatchObject(refusal);
    }
    for (const replica of [one, other]) {
      await fixture.until('403', async () => (await fixture.statusOf(replica, person)) === 403);
      const refused = await call(replica, 'GET', '/v1/push-tokens', person);
      expect({ ...refusalOf(refused), provider: refused.body['provider'] }).toEqual({
        ...NEEDS_LOGIN,
        provider: 'people',
      });
    }
    const handshake = await refusedConnect(other, { token: person.token });
    expect(handshake.data).toMatchObject(refusal);
    expect(await eligibility(person)).toMatchObject({
      status: 'unknown',
      reason: 'no_refresh_token',
    });
    const { rows } = await fixture.sql.query(
      `SELECT kind, actor, provider, reason FROM audit_event
       WHERE account_id = $1 AND kind = 'eligibility-lost'`,
      [person.accountId],
    );
    expect(rows).toEqual([
      {
        kind: 'eligibility-lost',
        actor: 'provider',
        provider: 'people',
        reason: 'no_refresh_token',
      },
    ]);
  });

  it('opens access on every replica when the same identity is connected again', async () => {
    const sub = randomUUID();
    const person = await connected(sub);
    await fixture.makeDue(3600);
    await fixture.until('403', async () => (await fixture.statusOf(other, person)) === 403);
    expect((await fixture.connect(one, person, 'people', sub)).status).toBe(200);
    await fixture.until('200', async () => (await fixture.statusOf(other, person)) === 200);
    expect(await fixture.statusOf(one, person)).toBe(200);
    expect(await eligibility(person)).toMatchObject({ status: 'eligible', reason: null });
  });

  it('does not open access to another identity, or to one that the rules refuse', async () => {
    const sub = randomUUID();
    const person = await connected(sub);
    await fixture.makeDue(3600);
    await fixture.until('403', async () => (await fixture.statusOf(one, person)) === 403);
    const another = await fixture.connect(one, person, 'people', randomUUID());
    expect(refusalOf(another)).toEqual({ status: 409, code: 'provider-already-linked' });
    fixture.provider.groups.set(sub, ['alumni']);
    await fixture.reconnect(one, person);
    expect(await fixture.statusOf(one, person)).toBe(403);
  });

  async function eligibility({ accountId }: Person) {
    const { rows } = await fixture.sql.query<{ status: string; reason: string | null }>(
      `SELECT eligibility_status AS status, eligibility_reason AS reason FROM identity
       WHERE account_id = $1`,
      [accountId],
    );
    return rows[0];
  }
});

describe('a provider that gives no refresh token, and alone opens an account', () => {
  let fixture: OffboardingFixture;
  let one: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    fixture.provider.givesRefreshTokens = false;
    one = await fixture.start(KEYLESS);
  });
  afterAll(() => fixture.close());

  it('asks for another login after one interval, which opens the account', async () => {
    const person = await fixture.keylessLogin(one);
    const live = await connect(one, { token: person.token });
    await live.next('hello');
    await fixture.makeDue(3600);
    const refusal = { statusCode: 403, code: 'provider-required', provider: 'people' };
    expect(await live.next('closing')).toMatchObject(refusal);
    const refused = await call(one, 'GET', '/v1/push-tokens', person);
    expect(refusalOf(refused)).toEqual(NEEDS_LOGIN);
    const again = await fixture.keylessLogin(one, person.sub);
    expect(again.accountId).toBe(person.accountId);
    expect(await fixture.statusOf(one, again)).toBe(200);
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it('keeps an account open that another identity confirms', async () => {
    const person = await fixture.keylessLogin(one);
    fixture.provider.givesRefreshTokens = true;
    const second = await fixture.connect(one, person, 'guild', randomUUID());
    fixture.provider.givesRefreshTokens = false;
    expect(second.status).toBe(200);
    await fixture.sql.query(
      `UPDATE identity SET eligibility_next_check_at = now(),
         eligibility_checked_at = eligibility_checked_at - interval '1 hour'
       WHERE account_id = $1 AND provider = 'people'`,
      [person.accountId],
    );
    await fixture.until('judged', async () => {
      const { rows } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE account_id = $1 AND eligibility_status = 'unknown'`,
        [person.accountId],
      );
      return rows.length === 1;
    });
    expect(await fixture.statusOf(one, person)).toBe(200);
  });
});
