import { randomUUID } from 'node:crypto';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import type { Json } from '../../helpers/client.js';

const TRANSMITTER = 'https://idp.example.com';

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const tokens = await AdminTokensFile.create();
const sharedSignals = { transmitter: TRANSMITTER, audience: 'https://gate.example.com' };
const [people, guild] = JSON.parse(scim.providers({ required: true })) as [Json, Json];
const signals = { ...(people['signals'] as Json), sharedSignals };
const server = await fixture.start({
  ...KEYLESS,
  ...tokens.env,
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
    { ...people, signals },
    { ...guild, signals: undefined },
  ]),
});
const reader = new AdminCalls(await adminUrlOf(server), tokens.reader);
afterAll(() => fixture.close());

describe('signals in the administration API', () => {
  const reported = async (): Promise<readonly Json[]> =>
    (await reader.get('/signals')).body['providers'] as Json[];

  it('shows the last signals, the stream and the directory of a provider, and no other one', async () => {
    const stream = { transmitter: TRANSMITTER, delivery: 'push' };
    const unknown = { status: null, reason: null, failure: null, seenAt: null, verifiedAt: null };
    expect(await reported()).toEqual([
      expect.objectContaining({ id: 'people', received: [], stream: { ...stream, ...unknown } }),
    ]);
    await fixture.sql.query(
      `INSERT INTO signal_stream (provider, transmitter, stream_id, audiences, status, reason,
         verification_state, connected_at, seen_at, verified_at, check_at)
       VALUES ('people', $1, 'one', '{}', 'paused', 'overload', '', now(), 'epoch', 'epoch',
         'infinity')`,
      [TRANSMITTER],
    );
    await fixture.sql.query(
      `INSERT INTO provider_signal (provider, kind, received_at)
       VALUES ('people', 'shared-signals', 'epoch'), ('guild', 'backchannel-logout', 'epoch')`,
    );
    await scim.add(server, { userName: randomUUID() });
    const [people, guild] = await reported();
    expect(people).toMatchObject({
      received: [
        { kind: 'scim', at: expect.any(Number) },
        { kind: 'shared-signals', at: 0 },
      ],
      stream: {
        ...{ ...stream, status: 'paused', reason: 'overload', failure: null },
        ...{ seenAt: 0, verifiedAt: 0 },
      },
      directory: { isRequired: true },
    });
    const received = [{ kind: 'backchannel-logout', at: 0 }];
    expect(guild).toEqual({ id: 'guild', received, stream: null, directory: null });
  });

  it('counts the people of a directory, and lists those without an identity by pages', async () => {
    const sub = randomUUID();
    await scim.add(server, { userName: 'matched', externalId: sub });
    await fixture.keylessLogin(server, sub);
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      ids.push(await scim.add(server, { userName: `unmatched-${at}`, externalId: `e-${at}` }));
    }
    const pages: Json[][] = [];
    let cursor = '';
    do {
      const { body } = await reader.get(`/signals/people/unmatched?limit=2${cursor}`);
      pages.push(body['people'] as Json[]);
      const next = body['cursor'];
      cursor = typeof next === 'string' ? `&cursor=${next}` : '';
    } while (cursor !== '');
    const listed = pages.flat();
    expect(pages.every((page) => page.length <= 2)).toBe(true);
    expect(listed.map(({ id }) => id)).toEqual([...listed.map(({ id }) => id)].sort());
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const { rows } = await fixture.sql.query<Json>(
      `SELECT count(*)::int AS people, count(subject)::int AS matched FROM directory_person`,
    );
    const { people, matched } = rows[0] as { people: number; matched: number };
    expect(listed).toHaveLength(people - matched);
    expect(listed.find(({ id }) => id === ids[0])).toEqual({
      ...{ id: ids[0], userName: 'unmatched-0', externalId: 'e-0', isActive: true },
      ...{ isAmbiguous: false, changedAt: expect.any(Number), isRefused: false },
    });
    // The counts are kept for 30 seconds; another process counts for itself.
    const fresh = await fixture.start({
      ...KEYLESS,
      ...tokens.env,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
    });
    const calls = new AdminCalls(await adminUrlOf(fresh), tokens.reader);
    const [first] = (await calls.get('/signals')).body['providers'] as Json[];
    expect(first?.['directory']).toEqual({
      ...{ people, active: people, matched, unmatched: people - matched, ambiguous: 0 },
      ...{ recentlyDeactivated: 0, isRequired: false },
    });
  });

  it.each([
    ['another provider', 'guild/unmatched', 404],
    ['an unknown provider', 'unknown/unmatched', 404],
    ['an invalid cursor', 'people/unmatched?cursor=eyJpZCI6Ing7In0', 400],
    ['a page that is too large', 'people/unmatched?limit=201', 400],
  ])('refuses to list the people of %s', async (_what, path, status) => {
    expect((await reader.get(`/signals/${path}`)).status).toBe(status);
  });
});
