import { Client } from 'pg';
import {
  call,
  logIn,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type Login,
} from '../../helpers/client.js';
import type { Row } from './covering-array.js';
import { FakeOpenIdProvider } from '../../fakes/openid-provider.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import {
  ATTEMPTS,
  INVITED,
  KEY,
  KNOWN_CERTIFICATE,
  KNOWN_USER,
  REFUSALS,
  RULES,
  strangers,
  subjectOf,
  throughProvider,
  withCertificate,
  type Deployment,
} from './admission-attempts.js';
import { ENCRYPTION, MTLS, OPEN, REDIRECT, ROWS } from './admission-factors.js';
import { providerEntry, RETURN_BASE } from '../../fixtures/provider-login-fixture.js';
import { finish } from '../../helpers/keyless-calls.js';

const LANES = 2;

const textOf = (answer: Answer): string => {
  const { status, code } = refusalOf(answer);
  return answer.status === 200 ? '200' : `${status} ${String(code)}`;
};

const deployments: Deployment[] = [];

const start = (
  row: Row,
  { port, store, oidc }: Pick<Deployment, 'port' | 'store' | 'oidc'>,
): Promise<Server> => {
  const { AUTH_PROVIDERS_CONFIG_JSON: provider = '', ...variables } = row;
  const entry = providerEntry('okta', oidc);
  const open = { ...entry, allow: {} };
  const providers = { none: [], restricted: [entry] }[provider] ?? [open];
  const env = {
    ...variables,
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(providers),
    AUTH_FRESH_LOGIN_SECONDS: '0',
    PORT: String(port),
    // The account page is off, because it would be a return address.
    SERVICE_ACCOUNT_PAGE_ENABLED: '0',
    SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: provider === 'unreturnable' ? '' : RETURN_BASE,
    [`${MTLS}TRUSTED_PROXIES`]: '127.0.0.1',
  };
  return startServer({ store, env });
};

const ports = await Promise.all(Array.from({ length: LANES }, () => freePort()));
for (const port of ports) {
  const store = await createStore();
  const oidc = await FakeOpenIdProvider.start();
  const sql = new Client({ connectionString: store.databaseUrl ?? '' });
  await sql.connect();
  sql.on('error', () => undefined);
  const maker = await start(OPEN, { port, store, oidc });
  const key = makeDeviceKey();
  const keyed = await logIn(maker, key);
  const [[known], [certified]] = [
    await throughProvider(maker, { oidc }, KNOWN_USER, 'keyless', (pending, proof) =>
      finish(maker, { pending, proof }),
    ),
    await withCertificate(maker, KNOWN_CERTIFICATE),
  ];
  expect([known?.status, certified?.status]).toEqual([200, 200]);
  await maker.stop();
  const keyless = certified?.body as unknown as Login;
  const keylessByOAuth = known?.body as unknown as Login;
  deployments.push({ port, store, sql, oidc, key, keyed, keyless, keylessByOAuth });
}
afterAll(async () => {
  for (const { sql, store, oidc } of deployments) {
    await Promise.all([sql.end(), oidc.close()]);
    await store.drop();
  }
});

describe(`discovery and the endpoints, under ${ROWS.length} policies`, () => {
  /** Describes each difference between the advertised and the actual behaviour of the server. */
  async function contradictionsOf(row: Row, deployment: Deployment): Promise<string[]> {
    const subject = subjectOf(KNOWN_CERTIFICATE, row[`${MTLS}IDENTITY_SOURCE`] || 'san_email');
    await deployment.sql.query(
      `UPDATE identity SET subject = $1 WHERE provider = 'mtls' AND account_id = $2`,
      [subject, deployment.keyless.accountId],
    );
    const server = await start(row, deployment);
    try {
      const { body } = await call<Features>(server, 'GET', '/v1/features');
      const { methods, signup } = body.capabilities.auth;
      const isInvited = signup.methods.some(({ id, enabled }) => id === 'invitation' && enabled);
      const advertised = [
        ...methods.map(({ method, action, mode }) => `${method} ${action} ${mode}`),
        ...(isInvited ? [INVITED] : []),
      ];
      const found = advertised
        .filter((entry) => !(entry in ATTEMPTS))
        .map((entry) => `${entry} is advertised and not tried`);
      found.push(...(await wronglyServed(row, server, deployment)));
      for (const [entry, attempt] of Object.entries(ATTEMPTS)) {
        // An invitation is optional and harmless where sign-up is open.
        const isOpen = entry === INVITED && advertised.includes(`${KEY} provision keyed`);
        const isAdvertised = isOpen || advertised.includes(entry);
        const expected = isAdvertised ? ['200'] : (REFUSALS[entry] ?? []);
        const stores = isAdvertised ? storedBy(entry) : NOTHING;
        const hasStarted = mayBegin(entry, advertised);
        found.push(
          ...(await deviations(deployment, { entry, expected, stores, hasStarted }, () =>
            attempt(server, deployment),
          )),
        );
      }
      for (const [entry, attempt] of strangers(row, advertised)) {
        const wanted = {
          entry,
          expected: ['403 not-eligible'],
          stores: NOTHING,
          hasStarted: false,
        };
        found.push(...(await deviations(deployment, wanted, () => attempt(server, deployment))));
      }
      return [...found, ...contradictionsWithin(body, row)];
    } finally {
      await server.stop();
    }
  }

  it('advertises exactly what works, and refuses the rest with the documented codes and no effect', async () => {
    const rows = ROWS.entries();
    const contradictions: string[] = [];
    await Promise.all(
      deployments.map(async (deployment) => {
        for (const [at, row] of rows) {
          const found = await contradictionsOf(row, deployment);
          contradictions.push(...found.map((one) => `${at}: ${one} under ${JSON.stringify(row)}`));
        }
      }),
    );
    expect(contradictions).toEqual([]);
  });
});

interface Features {
  readonly features: { readonly e2ee: { readonly keylessAccounts: { readonly enabled: boolean } } };
  readonly capabilities: {
    readonly auth: {
      readonly methods: readonly {
        readonly method: string;
        readonly action: string;
        readonly mode: string;
        readonly restricted?: boolean;
      }[];
      readonly signup: { readonly methods: readonly { id: string; enabled: boolean }[] };
      readonly ui: { readonly autoRedirect: { readonly providerId: string | null } };
    };
    readonly encryption: { readonly [name: string]: unknown };
  };
}

interface Stored {
  readonly account: number;
  readonly identity: number;
  readonly session: number;
  readonly push_token: number;
}

const NOTHING: Stored = { account: 0, identity: 0, session: 0, push_token: 0 };

/** Returns the rows that a successful attempt of the entry stores once. */
function storedBy(entry: string): Stored {
  const [method, action] = entry.split(' ');
  const isByProvider = method !== KEY && entry !== INVITED;
  const identity = Number(action === 'connect' || (action === 'provision' && isByProvider));
  return {
    ...NOTHING,
    ...{ account: Number(action === 'provision'), identity, session: Number(action !== 'connect') },
  };
}

/** True if another entry permits the login to begin, which then only its own end refuses. */
function mayBegin(entry: string, advertised: readonly string[]): boolean {
  return (
    entry.startsWith('okta') &&
    !entry.includes('connect') &&
    advertised.includes('okta connect keyed') &&
    (advertised.includes(`${KEY} login keyed`) || advertised.includes('okta login keyless'))
  );
}

interface Wanted {
  readonly entry: string;
  /** Every answer must be one of these. */
  readonly expected: readonly string[];
  readonly stores: Stored;
  readonly hasStarted: boolean;
}

async function deviations(
  deployment: Deployment,
  { entry, expected, stores, hasStarted }: Wanted,
  attempt: () => Promise<Answer[]>,
): Promise<string[]> {
  const before = await countRows(deployment);
  const answers = (await attempt()).map(textOf);
  const after = await countRows(deployment);
  const isAsExpected = answers.length > 0 && answers.every((answer) => expected.includes(answer));
  const isStored = Object.entries(stores).every(
    ([table, rows]) => (after[table] ?? 0) - (before[table] ?? 0) === rows,
  );
  // Rows that expire may be deleted meanwhile.
  const isLeft = LOGINS.some((table) => (after[table] ?? 0) > (before[table] ?? 0));
  await forgetConnected(deployment);
  return isAsExpected && isStored && (hasStarted || !isLeft)
    ? []
    : [`${entry}: ${answers.join()}, of ${expected.join()}; ${changes(before, after)}`];
}

type Counts = Readonly<Record<string, number>>;

/** Pending logins, which their clients could still finish. */
const LOGINS = ['external_flow', 'external_pending', 'device_authorization'];

async function countRows({ sql }: Deployment): Promise<Counts> {
  const columns = [...Object.keys(NOTHING), ...LOGINS].map(
    (table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`,
  );
  const { rows } = await sql.query<Counts>(`SELECT ${columns.join()}`);
  return rows[0] ?? {};
}

function changes(before: Counts, after: Counts): string {
  const changed = Object.entries(after).filter(([table, rows]) => rows !== before[table]);
  return changed.map(([table, rows]) => `${table} +${rows - (before[table] ?? 0)}`).join();
}

/** The next configuration connects the same accounts again. */
async function forgetConnected({ sql, keyed, keyless, keylessByOAuth }: Deployment): Promise<void> {
  await sql.query(
    `DELETE FROM identity WHERE account_id = $1 OR (account_id = $2 AND provider = 'okta')
       OR (account_id = $3 AND provider = 'mtls')`,
    [keyed.accountId, keyless.accountId, keylessByOAuth.accountId],
  );
}

/** Accounts that are served without the required identity, or refused with it. */
async function wronglyServed(row: Row, server: Server, deployment: Deployment): Promise<string[]> {
  const required = row['AUTH_REQUIRED_LOGIN_PROVIDERS'] ?? '';
  const accounts: [own: string, login: Login][] = [
    ['no identity', deployment.keyed],
    ['mtls', deployment.keyless],
    ['okta', deployment.keylessByOAuth],
  ];
  const found: string[] = [];
  for (const [own, { token }] of accounts) {
    const answer = textOf(await call(server, 'GET', '/v1/push-tokens', { token }));
    if (answer !== (required === '' || required === own ? '200' : '403 provider-required')) {
      found.push(`an account with ${own} is answered ${answer}`);
    }
  }
  return found;
}

function isRestricted(method: string, row: Row): boolean {
  return method === 'okta'
    ? row['AUTH_PROVIDERS_CONFIG_JSON'] === 'restricted'
    : method === 'mtls' && Object.values(RULES).some((name) => row[name] !== '');
}

function contradictionsWithin({ features, capabilities }: Features, row: Row): string[] {
  const { auth, encryption } = capabilities;
  const has = (test: (entry: (typeof auth.methods)[number]) => boolean): boolean =>
    auth.methods.some(test);
  const policy = row[`${ENCRYPTION}STORAGE_POLICY`];
  const mode = { required_e2ee: 'e2ee', plaintext_only: 'plain' }[policy ?? ''];
  const target = auth.ui.autoRedirect.providerId;
  const anonymous = auth.signup.methods.find(({ id }) => id === 'anonymous')?.enabled;
  const claims: [string, boolean][] = [
    [
      'keyless entries without keyless accounts',
      has((one) => one.mode === 'keyless') && !features.e2ee.keylessAccounts.enabled,
    ],
    [
      'an account mode that the policy does not have',
      mode !== undefined && encryption['defaultAccountMode'] !== mode,
    ],
    [
      'an opt-out that is not possible',
      encryption['allowAccountOptOut'] === true && policy !== 'optional',
    ],
    [
      'anonymous sign-up that differs from the table',
      anonymous !== has((one) => one.method === 'key_challenge' && one.action === 'provision'),
    ],
    ['a redirect that is off', target !== null && row[`${REDIRECT}ENABLED`] !== '1'],
    [
      'a redirect to a method without a login',
      target !== null && !has((one) => one.method === target && one.action !== 'connect'),
    ],
    [
      'restricted entries that are not',
      has((one) => (one.restricted === true) !== isRestricted(one.method, row)),
    ],
  ];
  return claims.filter(([, isWrong]) => isWrong).map(([name]) => name);
}
