import { renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEYLESS, OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';
import {
  begin,
  beginConnect,
  connectFinalize,
  finalize,
} from '../../../fixtures/provider-login-fixture.js';
import { call, logIn, makeDeviceKey, type Answer } from '../../../helpers/client.js';
import { finish } from '../../../helpers/keyless-calls.js';

const LOGINS = ['keyless', 'keyed', 'connected'] as const;
const GROUPS = [...LOGINS, 'staff', 'interns'];
type Kind = (typeof LOGINS)[number];

/** A login before its last request, which returns the answer and the account's token. */
type LastRequest = () => Promise<{ readonly answer: Answer; readonly token: string }>;

describe('a login or a re-check while the rules change (needs PostgreSQL: it locks tables)', () => {
  let fixture: OffboardingFixture;
  let folder: string;
  let file: string;
  let server: Awaited<ReturnType<OffboardingFixture['start']>>;

  const publish = (groupsAny: readonly string[]): void => {
    writeFileSync(`${file}.new`, fixture.providers({ allow: { groupsAny } }));
    renameSync(`${file}.new`, file);
  };
  const proven = async (url: string, sub: string): Promise<string | undefined> =>
    fixture.pendingOf(server, fixture.provider.authorize(url, sub));

  const PREPARED: Record<Kind, (sub: string) => Promise<LastRequest>> = {
    keyless: async (sub) => {
      const held = await fixture.provenLogin(server, sub);
      return () => answered(finish(server, held, 'people'));
    },
    keyed: async (sub) => {
      const { url, proof } = await begin(server, 'people');
      const pending = await proven(url, sub);
      const options = { provider: 'people', proof };
      return () => answered(finalize(server, pending, makeDeviceKey(), options));
    },
    connected: async (sub) => {
      const { token } = await logIn(server);
      const pending = await proven(await beginConnect(server, token, 'people'), sub);
      return async () => ({
        answer: await connectFinalize(server, pending, token, 'people'),
        token,
      });
    },
  };

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-rules-'));
    file = join(folder, 'providers.json');
    publish(GROUPS);
    server = await fixture.start({
      ...KEYLESS,
      AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
      AUTH_SIGNUP_PROVIDERS: 'people',
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'people',
      AUTH_PROVIDERS_CONFIG_JSON: '',
      AUTH_PROVIDERS_CONFIG_PATH: file,
      // Only a signal causes a re-check.
      AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400',
    });
  });
  afterAll(async () => {
    await fixture.close();
    await rm(folder, { recursive: true });
  });

  /** Waits until the rules were searched for both providers. */
  const publishAndWait = async (groupsAny: readonly string[]): Promise<void> => {
    const signals = () => server.logs().split('rule signal').length;
    const before = signals();
    publish(groupsAny);
    await fixture.until('both providers were searched', () => signals() >= before + 2);
  };

  /** Removes a group from the rules while what `start` starts waits to store its result. */
  const changeWhileLocked = async <Result>(
    table: string,
    statement: string,
    group: string,
    start: () => Promise<Result>,
  ): Promise<Result> => {
    const lock = await fixture.sql.connect();
    let started: Promise<Result>;
    try {
      await lock.query(`BEGIN; LOCK TABLE "${table}" IN SHARE MODE`);
      started = start();
      await fixture.until('it waits for the lock', async () => {
        const { rowCount } = await fixture.sql.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
           AND wait_event_type = 'Lock' AND strpos(query, $1) > 0`,
          [statement],
        );
        return rowCount !== 0;
      });
      await publishAndWait(GROUPS.filter((other) => other !== group));
    } finally {
      lock.release(true);
    }
    return started;
  };

  it.each(LOGINS)('ends a %s one that was judged by the former rules', async (kind) => {
    const sub = `the-${kind}-person`;
    fixture.provider.groups.set(sub, [kind]);
    const last = await PREPARED[kind](sub);
    try {
      const { answer, token } = await changeWhileLocked(
        'identity',
        'INSERT INTO "identity"',
        kind,
        last,
      );
      expect(answer.status).toBe(200);
      await fixture.until('the access ended', async () => {
        const { status, body } = await call(server, 'GET', '/v1/push-tokens', { token });
        return status === 403 && body['code'] === 'not-eligible';
      });
    } finally {
      await publishAndWait(GROUPS);
    }
  });

  it('refuses a person whom a re-check by the former rules readmitted', async () => {
    const { sub } = await fixture.keylessLogin(server);
    fixture.provider.groups.set(sub, ['alumni']);
    await fixture.recheck(sub);
    fixture.provider.groups.set(sub, ['interns']);
    const due = 'UPDATE identity SET eligibility_next_check_at = now() WHERE subject = $1';
    await changeWhileLocked('audit_event', '"consecutive_failures" = $7', 'interns', () =>
      fixture.sql.query(due, [sub]),
    );
    await fixture.until('the stored answer is refused', async () => {
      const { rows } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts -> 'groups' ? 'interns'
         AND eligibility_status = 'ineligible' AND eligibility_reason = 'group_missing'`,
        [sub],
      );
      return rows.length === 1;
    });
  });
});

async function answered(sent: Promise<Answer>): ReturnType<LastRequest> {
  const answer = await sent;
  return { answer, token: String(answer.body['token']) };
}
