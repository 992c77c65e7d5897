import { decodeJwt } from 'jose';
import { EventStreamFixture, SESSION_REVOKED } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import {
  CURSOR,
  grantedCode,
  INSPECTOR,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  redeem,
  refresh,
  UNACCEPTED_FOR_LONG,
} from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm } from '../../fixtures/resource-server-fixture.js';

const REQUIRED = { id: 'notes', requireProviders: ['people'] };
const setup = backends([{ ...REQUIRED, programs: PROGRAMS }]);
const fixture = await OffboardingFixture.open();
const OPEN = {
  ...KEYLESS,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  AUTH_OFFBOARDING_STRICT: 'true',
};
const env = { ...OPEN, ...setup.env, ...PROGRAM_ENV };
const server = await fixture.start(env);
const stream = await EventStreamFixture.open(server, setup, 'notes');
afterAll(() => fixture.close());

const sidOf = (access: string): string => String(decodeJwt(access)['sid']);

async function isActive(token: string): Promise<boolean> {
  const client = basic('notes', setup.secretOf('notes'));
  const { body } = await postForm(server, '/v1/oauth/introspect', { token }, client);
  return body['active'] === true;
}

async function setGrants({ accountId }: Person, assignment: string): Promise<void> {
  await fixture.sql.query(`UPDATE program_grant SET ${assignment} WHERE account_id = $1`, [
    accountId,
  ]);
}

const endReasons = async ({ accountId }: Person): Promise<unknown[]> => {
  const { rows } = await fixture.sql.query<{ reason: string; detail: string }>(
    `SELECT reason, detail FROM audit_event WHERE account_id = $1 AND kind = 'program-ended'`,
    [accountId],
  );
  return rows;
};

/** The last good answer of the provider is too old for strict mode. */
async function outage({ accountId }: Person): Promise<void> {
  fixture.provider.isDown = true;
  await fixture.sql.query(
    `UPDATE identity SET eligibility_next_check_at = now(),
       eligibility_checked_at = now() - interval '2 hours' WHERE account_id = $1`,
    [accountId],
  );
}

describe('a lapse of a person’s access (needs PostgreSQL and Redis)', () => {
  it('ends the session at the backend alone, and refresh opens a new one after it', async () => {
    const person = await fixture.person(server);
    const program = await programTokens(server, person.token);
    await outage(person);
    await setGrants(person, 'judge_at = now()');
    const [event] = await stream.until(sidOf(program.access));
    expect(event?.events[SESSION_REVOKED]).toMatchObject({ initiating_entity: 'policy' });
    expect(await isActive(program.access)).toBe(false);

    const refused = await refresh(server, program.refresh);
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ error: 'temporarily_unavailable', code: 'unavailable' });
    expect(await programsOf(server, person.token)).toHaveLength(1);

    fixture.provider.isDown = false;
    await fixture.makeDue();
    await fixture.until('the person is admitted again', async () => {
      const { status, body } = await refresh(server, program.refresh);
      const access = String(body['access_token']);
      return status === 200 && sidOf(access) !== sidOf(program.access) && isActive(access);
    });
    expect(await endReasons(person)).toEqual([]);
  });

  it('lapses at a refresh that no judgement preceded', async () => {
    const person = await fixture.person(server);
    const program = await programTokens(server, person.token);
    await outage(person);
    expect((await refresh(server, program.refresh)).status).toBe(503);
    await stream.until(sidOf(program.access));
    expect(await endReasons(person)).toEqual([]);
    fixture.provider.isDown = false;
  });

  it('keeps a code until the person is admitted again', async () => {
    const person = await fixture.person(server);
    const verifier = newVerifier();
    const code = await grantedCode(server, person.token, verifier);
    await outage(person);
    const refused = await redeem(server, code, verifier);
    expect([refused.status, refused.body['error']]).toEqual([503, 'temporarily_unavailable']);
    fixture.provider.isDown = false;
    await fixture.makeDue();
    await fixture.until('the person is admitted again', async () => {
      const { status } = await redeem(server, code, verifier);
      return status === 200;
    });
  });

  it('ends for good with a definite answer that follows', async () => {
    const person = await fixture.person(server);
    const program = await programTokens(server, person.token);
    await outage(person);
    expect((await refresh(server, program.refresh)).status).toBe(503);
    fixture.provider.isDown = false;
    fixture.provider.groups.set(person.sub, ['alumni']);
    await fixture.makeDue();
    await fixture.until('the grant ends', async () => {
      const { status } = await refresh(server, program.refresh);
      return status === 400;
    });
    expect(await endReasons(person)).toEqual([
      { reason: 'not-eligible', detail: 'inspector at notes' },
    ]);
  });
});

describe('a scope that is gone from the entry (needs PostgreSQL and Redis)', () => {
  it('is in no token, neither for a code nor for a refresh token', async () => {
    const person = await fixture.person(server);
    const both = ['notes:read', 'notes:write'];
    const verifier = newVerifier();
    const code = await grantedCode(server, person.token, verifier, {
      request: { scope: both.join(' ') },
      approval: { scopes: both },
    });
    const scopes = { 'notes:read': 'Read your notes' };
    const other = await fixture.start({ ...env, ...entryWith({ ...PROGRAMS, scopes }) });
    const first = await redeem(other, code, verifier);
    const second = await refresh(other, String(first.body['refresh_token']));
    expect([first.body['scope'], second.body['scope']]).toEqual(['notes:read', 'notes:read']);
    await other.stop();
  });
});

describe('the end of a grant by the judgement (needs PostgreSQL and Redis)', () => {
  it('follows 30 days without use', async () => {
    const person = await fixture.person(server);
    const [idle, used] = [
      await programTokens(server, person.token),
      await programTokens(server, person.token),
    ];
    await setGrants(person, `last_used_at = last_used_at - interval '29.99 days'`);
    expect((await refresh(server, used.refresh)).status).toBe(200);
    await setGrants(person, `last_used_at = last_used_at - interval '0.01 days', judge_at = now()`);
    await stream.until(sidOf(idle.access));
    expect((await refresh(server, idle.refresh)).body['error']).toBe('invalid_grant');
    expect((await refresh(server, used.refresh)).status).toBe(200);
    expect(await endReasons(person)).toEqual([{ reason: 'idle', detail: 'inspector at notes' }]);
  });

  it('is planned for the time at which it would be idle', async () => {
    const person = await fixture.person(server);
    await programTokens(server, person.token);
    const { rows } = await fixture.sql.query(
      `SELECT judge_at <= last_used_at + interval '30 days' AS "isPlanned" FROM program_grant
       WHERE account_id = $1`,
      [person.accountId],
    );
    expect(rows).toEqual([{ isPlanned: true }]);
  });

  /** Returns true if a grant of the person is marked as not accepted, for longer than an interval. */
  const isMarked = async ({ accountId }: Person, interval = '0 s'): Promise<boolean> => {
    const { rowCount } = await fixture.sql.query(
      `SELECT FROM program_grant WHERE account_id = $1 AND unaccepted_at <= now() - $2::interval`,
      [accountId, interval],
    );
    return rowCount === 1;
  };

  it.each<[string, Record<string, string>]>([
    [
      'the program is not in the configuration',
      { AUTH_PROGRAM_CLIENTS_CONFIG_JSON: JSON.stringify([CURSOR]) },
    ],
    ['the entry has no programs', entryWith(undefined, [{ id: 'other', programs: PROGRAMS }])],
  ])('follows after ten minutes where %s', async (_what, change) => {
    const person = await fixture.person(server);
    const program = await programTokens(server, person.token);
    // The replica that accepts the program looks each minute, and may remove the mark in between.
    while ((await endReasons(person)).length === 0) {
      const other = await fixture.start({ ...env, ...change });
      await fixture.until('marked', () => isMarked(person));
      await fixture.sql.query(UNACCEPTED_FOR_LONG);
      await other.stop();
      const again = await fixture.start({ ...env, ...change });
      await fixture.until('ended', async () => !(await isMarked(person, '10 minutes')));
      await again.stop();
    }
    await stream.until(sidOf(program.access));
    expect(await endReasons(person)).toEqual([
      { reason: 'configuration', detail: `${INSPECTOR.id} at notes` },
    ]);
    expect((await refresh(server, program.refresh)).body['error']).toBe('invalid_grant');
  });

  it.each([
    ['the entry does not accept the program', entryWith({ ...PROGRAMS, clients: [CURSOR.id] })],
    ['no entry has programs', entryWith(undefined)],
  ])('waits for a replica of a newer configuration where %s', async (_what, change) => {
    const person = await fixture.person(server);
    const program = await programTokens(server, person.token);
    const older = await fixture.start({ ...env, ...change });
    await fixture.until('marked', () => isMarked(person));
    const elsewhere = await refresh(older, program.refresh);
    expect(elsewhere.body['error']).toMatch(/^(temporarily_unavailable|unsupported_grant_type)$/);
    const newer = await fixture.start(env);
    await fixture.until('accepted', async () => !(await isMarked(person)));
    expect((await refresh(newer, program.refresh)).status).toBe(200);
    expect(await endReasons(person)).toEqual([]);
    await Promise.all([older.stop(), newer.stop()]);
  });

  it('is deleted and audited when its time is over', async () => {
    const person = await fixture.person(server);
    await programTokens(server, person.token);
    await setGrants(person, `expires_at = now() - interval '1 second'`);
    expect(await programsOf(server, person.token)).toEqual([]);
    const other = await fixture.start(env);
    await fixture.until('the row is deleted', async () => {
      const { rowCount } = await fixture.sql.query(
        'SELECT FROM program_grant WHERE account_id = $1',
        [person.accountId],
      );
      return rowCount === 0;
    });
    expect(await endReasons(person)).toEqual([
      { reason: 'grant-expired', detail: 'inspector at notes' },
    ]);
    await other.stop();
  });
});

/** The configured backends with other programs of `notes`, and with these more. */
function entryWith(programs: object | undefined, more: readonly object[] = []) {
  const [notes] = JSON.parse(setup.env['AUTH_RESOURCE_SERVERS_CONFIG_JSON'] ?? '') as [object];
  const [entry, ...others] = [{ ...notes, programs }, ...more].map((one) => ({
    ...notes,
    ...{ resource: 'https://other.example.com' },
    ...one,
  }));
  const entries = [{ ...entry, resource: 'https://notes.example.com' }, ...others];
  return { AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify(entries) };
}
