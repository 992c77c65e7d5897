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
type Kind = (typeof LOGINS)[number];

/** A login before its last request, which returns the answer and the account's token. */
type LastRequest = () => Promise<{ readonly answer: Answer; readonly token: string }>;

describe('a login while the rules change (needs PostgreSQL: it locks a table)', () => {
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
    publish(LOGINS);
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

  it.each(LOGINS)('ends a %s one that was judged by the former rules', async (kind) => {
    const sub = `the-${kind}-person`;
    fixture.provider.groups.set(sub, [kind]);
    const last = await PREPARED[kind](sub);
    const lock = await fixture.sql.connect();
    await lock.query('BEGIN; LOCK TABLE "identity" IN SHARE MODE');
    const login = last();
    try {
      await fixture.until('the login waits for the lock', async () => {
        const { rowCount } = await fixture.sql.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
           AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO "identity"%'`,
        );
        return rowCount !== 0;
      });
      await publishAndWait(LOGINS.filter((other) => other !== kind));
    } finally {
      lock.release(true);
    }
    try {
      const { answer, token } = await login;
      expect(answer.status).toBe(200);
      await fixture.until('the access ended', async () => {
        const { status, body } = await call(server, 'GET', '/v1/push-tokens', { token });
        return status === 403 && body['code'] === 'not-eligible';
      });
    } finally {
      await publishAndWait(LOGINS);
    }
  });
});

async function answered(sent: Promise<Answer>): ReturnType<LastRequest> {
  const answer = await sent;
  return { answer, token: String(answer.body['token']) };
}
