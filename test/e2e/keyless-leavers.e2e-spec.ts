import { randomUUID } from 'node:crypto';
import { call, refusalOf } from '../helpers/client.js';
import { connect, refusedConnect } from '../helpers/client-live.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import { waitFor } from '../helpers/wait.js';
import { KEYLESS, OffboardingWorld, type Person } from './offboarding-world.js';

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('leaving the provider that alone opens an account, where none is required', () => {
  let world: OffboardingWorld;
  let one: Server;
  let other: Server;

  beforeAll(async () => {
    world = await OffboardingWorld.open();
    // The announcement ends a connection long before its next regular turn.
    const env = { ...KEYLESS, AUTH_ACCESS_CACHE_SECONDS: '15' };
    one = await world.start(env);
    other = await world.start(env);
  });
  afterAll(() => world.close());

  const statuses = async (person: Person): Promise<number[]> => [
    await world.statusOf(one, person),
    await world.statusOf(other, person),
  ];

  it('ends access on every replica, and restores it without a login', async () => {
    const person = await world.keylessLogin(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    expect(await statuses(person)).toEqual([200, 200]);

    world.provider.groups.set(person.sub, ['alumni']);
    await world.makeDue();
    const refusal = { statusCode: 403, code: 'not-eligible', provider: 'people' };
    expect(await live.next('closing')).toMatchObject(refusal);
    expect(await live.disconnected).toBe('io server disconnect');
    await world.until('403 on both', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
    const refused = await call(one, 'GET', '/v1/push-tokens', { token: person.token });
    expect(refused.body).toMatchObject(refusal);
    expect((await refusedConnect(one, { token: person.token })).message).toBe('not-eligible');
    for (const path of ['/v1/account/profile', '/v1/connect/external/guild/params']) {
      expect((await call(one, 'GET', path, { token: person.token })).status).toBe(200);
    }

    world.provider.groups.set(person.sub, ['staff']);
    await world.makeDue();
    await world.until('access returns', async () =>
      (await statuses(person)).every((status) => status === 200),
    );
  });

  it('ends access with the last of two identities, not with the first', async () => {
    const person = await world.keylessLogin(one);
    const guest = randomUUID();
    expect((await world.connect(one, person, 'guild', guest)).status).toBe(200);
    const live = await connect(other, { token: person.token });
    await live.next('hello');

    world.provider.groups.delete(person.sub);
    await world.makeDue();
    const stateOf = async (): Promise<unknown> =>
      (await call(one, 'GET', '/v1/account/profile', person)).body['identities'];
    await world.until('one is lost', async () =>
      JSON.stringify(await stateOf()).includes('"ineligible"'),
    );
    expect(await statuses(person)).toEqual([200, 200]);
    expect(live.socket.connected).toBe(true);

    world.provider.groups.delete(guest);
    await world.makeDue();
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    await world.until('403 on both', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
  });

  it('admits a removed account again that connects an eligible identity', async () => {
    const person = await world.keylessLogin(one);
    world.provider.groups.delete(person.sub);
    await world.makeDue();
    await world.until('403', async () => (await world.statusOf(one, person)) === 403);
    expect((await world.connect(one, person, 'guild', randomUUID())).status).toBe(200);
    await world.until('served', async () => (await world.statusOf(other, person)) === 200);
  });

  it('is found at a login that the provider refuses', async () => {
    const person = await world.keylessLogin(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    world.provider.groups.set(person.sub, ['alumni']);
    await expect(world.keylessLogin(one, person.sub)).rejects.toThrow('invalid-request');
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    const refused = await call(other, 'GET', '/v1/push-tokens', { token: person.token });
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'not-eligible' });
  });

  it('checks an identity once in each interval, which a login begins anew', async () => {
    const person = await world.keylessLogin(one);
    const eligibility = async () => {
      const { body } = await call(one, 'GET', '/v1/account/profile', person);
      expect(body['identities']).toMatchObject([{ eligibility: { status: 'eligible' } }]);
      const [identity] = body['identities'] as [
        { eligibility: { checkedAt: number; nextCheckAt: number } },
      ];
      return identity.eligibility;
    };
    const first = await eligibility();
    expect(first.nextCheckAt - first.checkedAt).toBeGreaterThanOrEqual(1_800_000);
    expect(first.nextCheckAt - first.checkedAt).toBeLessThanOrEqual(3_600_000);
    await world.keylessLogin(one, person.sub);
    const again = await eligibility();
    expect(again.nextCheckAt - again.checkedAt).toBe(3_600_000);
    await world.makeDue();
    await waitFor('a check', async () => (await eligibility()).checkedAt > again.checkedAt);
    const checked = await eligibility();
    // From the start of the check to that of the next one.
    expect(checked.nextCheckAt - checked.checkedAt).toBeLessThanOrEqual(3_600_000);
    expect(checked.nextCheckAt - again.checkedAt).toBeGreaterThanOrEqual(3_600_000);
  });
});
