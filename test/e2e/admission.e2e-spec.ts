import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import {
  call,
  challengedLogin,
  logIn,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type DeviceKey,
  type Json,
  type Login,
} from '../helpers/client.js';
import { coveringArray, type Row } from '../helpers/covering-array.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import { createLane, type ServerLane } from '../helpers/server-lane.js';
import { freePort } from '../helpers/service-process.js';
import { startOidc, type Oidc } from './external-oidc.js';
import {
  comeBack,
  connectFinalize,
  finalize,
  hashOf,
  params,
  providerEntry,
  RETURN_BASE,
} from './external-world.js';
import { finish } from './keyless-calls.js';

const KEYLESS = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_';
const MTLS = 'SERVICE_FEATURE_AUTH_MTLS__';
const ENCRYPTION = 'SERVICE_FEATURE_ENCRYPTION__';

/** Every policy variable, with the values that it is tried with; some set several variables. */
const FACTORS = {
  AUTH_KEY_CHALLENGE_ENABLED: ['true', 'false'],
  AUTH_ANONYMOUS_SIGNUP_ENABLED: ['true', 'false'],
  AUTH_SIGNUP_PROVIDERS: ['', 'okta'],
  AUTH_REQUIRED_LOGIN_PROVIDERS: ['', 'okta'],
  AUTH_REQUIRE_SERVER_CHALLENGE: ['true', 'false'],
  AUTH_OFFBOARDING_ENABLED: ['', 'true', 'false'],
  AUTH_OFFBOARDING_STRICT: ['true', 'false'],
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: ['0', '1'],
  [`${ENCRYPTION}STORAGE_POLICY`]: ['required_e2ee', 'optional', 'plaintext_only'],
  [`${ENCRYPTION}DEFAULT_ACCOUNT_MODE`]: ['e2ee', 'plain'],
  [`${ENCRYPTION}ALLOW_ACCOUNT_OPTOUT`]: ['0', '1'],
  [`${KEYLESS}ENABLED`]: ['0', '1'],
  [`${KEYLESS}PROVIDERS`]: ['', 'okta', 'ghost'],
  [`${KEYLESS}AUTO_PROVISION`]: ['0', '1'],
  [`${MTLS}ENABLED`]: ['0', '1'],
  [`${MTLS}AUTO_PROVISION`]: ['0', '1'],
  [`${MTLS}TRUST_FORWARDED_HEADERS`]: ['0', '1'],
  SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID: ['', 'okta', 'mtls'],
  provider: ['none', 'open', 'restricted'],
};
const ROWS = coveringArray(FACTORS, 1);
const LANES = 2;

/** A server on which every account of the tests can be created. */
const OPEN: Row = {
  ...Object.fromEntries(Object.keys(FACTORS).map((name) => [name, ''])),
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  [`${ENCRYPTION}STORAGE_POLICY`]: 'optional',
  [`${KEYLESS}ENABLED`]: '1',
  [`${KEYLESS}PROVIDERS`]: 'okta',
  [`${KEYLESS}AUTO_PROVISION`]: '1',
  [`${MTLS}ENABLED`]: '1',
  [`${MTLS}AUTO_PROVISION`]: '1',
  [`${MTLS}TRUST_FORWARDED_HEADERS`]: '1',
  provider: 'open',
};

/** Servers one after the other on one store, with accounts of each kind. */
interface Lane {
  readonly host: ServerLane;
  readonly store: Store;
  readonly port: number;
  readonly sql: Client;
  readonly oidc: Oidc;
  readonly key: DeviceKey;
  readonly keyed: Login;
  /** Of the known certificate. */
  readonly keyless: Login;
  /** Of the known user. */
  readonly keylessByOAuth: Login;
}

const KNOWN_USER = 'known';
const KNOWN_CERTIFICATE = 'known@corp.example';

/** What is tried for an entry: the refusals met on the way, or the answer at its end. */
type Attempt = (server: Server, lane: Lane) => Promise<Answer[]>;

const fresh = (): string => `user-${randomUUID()}`;

async function withKey(server: Server, key: DeviceKey, more: Json = {}): Promise<Answer[]> {
  const body = { ...(await challengedLogin(server, key)), ...more };
  return [await call(server, 'POST', '/v1/auth', { body })];
}

/**
 * Begins in each mode, as a client that does not ask discovery would, and finishes as wanted.
 *
 * @returns the refusals of beginnings in the wanted mode, and the answers at the end
 */
async function throughProvider(
  server: Server,
  user: string,
  wanted: 'keyed' | 'keyless',
  end: (pending: string, proof: string) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const mode of wanted === 'keyed' ? ['keyed', 'keyless'] : ['keyless', 'keyed']) {
    const proof = randomUUID();
    const begun = await params(server, 'okta', { mode, proofHash: hashOf(proof) });
    if (begun.status === 200) {
      const { pending } = await comeBack(String(begun.body['url']), user);
      answers.push(await end(pending ?? '', proof));
    } else if (mode === wanted) {
      answers.push(begun);
    }
    if (answers.at(-1)?.status === 200) {
      break;
    }
  }
  return answers;
}

async function connectThrough(server: Server, lane: Lane, { token }: Login): Promise<Answer[]> {
  const user = fresh();
  const begun = await call(server, 'GET', '/v1/connect/external/okta/params', { token });
  if (begun.status !== 200) {
    return [begun];
  }
  const { pending } = await comeBack(String(begun.body['url']), user);
  const answer = await connectFinalize(server, pending, token);
  // The next configuration connects the same account again.
  await lane.sql.query(`DELETE FROM identity WHERE provider = 'okta' AND subject = $1`, [user]);
  return [answer];
}

async function withCertificate(server: Server, email: string): Promise<Answer[]> {
  const headers = { 'x-service-client-cert-email': email };
  return [await call(server, 'POST', '/v1/auth/mtls', { headers })];
}

/** Connects a certificate of the account's own, and forgets it for the next configuration. */
async function connectCertificate(
  server: Server,
  { sql }: Lane,
  { token, accountId }: Login,
): Promise<Answer[]> {
  const headers = { 'x-service-client-cert-email': `${fresh()}@corp.example` };
  const answer = await call(server, 'POST', '/v1/connect/certificate', { token, headers });
  await sql.query(`DELETE FROM identity WHERE provider = 'mtls' AND account_id = $1`, [accountId]);
  return [answer];
}

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'key_challenge login keyed': (server, { key }) => withKey(server, key, { create: false }),
  'key_challenge provision keyed': (server) => withKey(server, makeDeviceKey()),
  'okta connect keyed': (server, lane) => connectThrough(server, lane, lane.keyed),
  'okta connect keyless': (server, lane) => connectThrough(server, lane, lane.keyless),
  'okta provision keyed': (server) =>
    throughProvider(server, fresh(), 'keyed', (pending, proof) =>
      finalize(server, pending, makeDeviceKey(), { proof }),
    ),
  'okta login keyless': (server) =>
    throughProvider(server, KNOWN_USER, 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'okta provision keyless': (server) =>
    throughProvider(server, fresh(), 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'mtls connect keyed': (server, lane) => connectCertificate(server, lane, lane.keyed),
  'mtls connect keyless': (server, lane) => connectCertificate(server, lane, lane.keylessByOAuth),
  'mtls login keyless': (server) => withCertificate(server, KNOWN_CERTIFICATE),
  'mtls provision keyless': (server) => withCertificate(server, `${fresh()}@corp.example`),
};

const KEYLESS_OFF = ['403 keyless-disabled', '403 e2ee-required'];
const NOT_CONFIGURED = '404 unsupported-provider';

/** The refusals that the contract documents for an entry that is not advertised. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  'key_challenge login keyed': ['403 key-challenge-disabled'],
  'key_challenge provision keyed': ['403 key-challenge-disabled', '403 signup-disabled'],
  'okta connect keyed': [NOT_CONFIGURED],
  'okta connect keyless': [NOT_CONFIGURED, ...KEYLESS_OFF],
  'okta provision keyed': [
    NOT_CONFIGURED,
    '403 key-challenge-disabled',
    '403 signup-provider-disabled',
  ],
  'okta login keyless': [NOT_CONFIGURED, ...KEYLESS_OFF],
  'okta provision keyless': [NOT_CONFIGURED, ...KEYLESS_OFF, '403 signup-provider-disabled'],
  'mtls connect keyed': ['404 not-found', '401 mtls-required'],
  'mtls connect keyless': ['404 not-found', '401 mtls-required', ...KEYLESS_OFF],
  'mtls login keyless': ['404 not-found', '401 mtls-required', ...KEYLESS_OFF],
  'mtls provision keyless': [
    '404 not-found',
    '401 mtls-required',
    ...KEYLESS_OFF,
    '403 signup-provider-disabled',
  ],
};

const textOf = (answer: Answer): string => {
  const { status, code } = refusalOf(answer);
  return answer.status === 200 ? '200' : `${status} ${String(code)}`;
};

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices(`discovery and the endpoints, under ${ROWS.length} policies`, () => {
  const lanes: Lane[] = [];
  let oidc: Oidc;

  const start = (
    row: Row,
    { host, port, store }: Pick<Lane, 'host' | 'port' | 'store'>,
  ): Promise<Server> => {
    const { provider, ...variables } = row;
    const redirect = row['SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID'] ?? '';
    const entry = providerEntry('okta', oidc);
    const open = { ...entry, allow: {} };
    const providers = { none: [], open: [open], restricted: [entry] }[provider ?? ''] ?? [];
    const env = {
      ...variables,
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(providers),
      AUTH_FRESH_LOGIN_SECONDS: '0',
      PORT: String(port),
      SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: String(redirect !== ''),
      SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: RETURN_BASE,
      [`${MTLS}TRUSTED_PROXIES`]: '127.0.0.1',
    };
    return startServer({ host, store, env });
  };

  beforeAll(async () => {
    const ports = await Promise.all(Array.from({ length: LANES }, () => freePort()));
    oidc = await startOidc(ports.map((port) => `http://127.0.0.1:${port}/v1/oauth/okta/callback`));
    for (const port of ports) {
      const [host, store] = [createLane(), await createStore()];
      const sql = new Client({ connectionString: store.databaseUrl ?? '' });
      await sql.connect();
      sql.on('error', () => undefined);
      const maker = await start(OPEN, { host, port, store });
      const key = makeDeviceKey();
      const keyed = await logIn(maker, key);
      const [[known], [certified]] = [
        await throughProvider(maker, KNOWN_USER, 'keyless', (pending, proof) =>
          finish(maker, { pending, proof }),
        ),
        await withCertificate(maker, KNOWN_CERTIFICATE),
      ];
      expect([known?.status, certified?.status]).toEqual([200, 200]);
      await maker.stop();
      const keyless = certified?.body as unknown as Login;
      const keylessByOAuth = known?.body as unknown as Login;
      lanes.push({ host, port, store, sql, oidc, key, keyed, keyless, keylessByOAuth });
    }
  });
  afterAll(async () => {
    for (const { host, sql, store } of lanes) {
      await Promise.all([host.end(), sql.end()]);
      await store.drop();
    }
    await oidc.stop();
  });

  it('are tried under at least sixty policies', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(60);
  });

  /** What the policy's server does otherwise than it says, in words. */
  async function contradictionsOf(row: Row, lane: Lane): Promise<string[]> {
    const server = await start(row, lane);
    try {
      const { body } = await call<Features>(server, 'GET', '/v1/features');
      const advertised = body.capabilities.auth.methods.map(
        ({ method, action, mode }) => `${method} ${action} ${mode}`,
      );
      const found = advertised
        .filter((entry) => !(entry in ATTEMPTS))
        .map((entry) => `${entry} is advertised and not tried`);
      for (const [entry, attempt] of Object.entries(ATTEMPTS)) {
        const before = await accountsOf(lane);
        const answers = (await attempt(server, lane)).map(textOf);
        const added = (await accountsOf(lane)) - before;
        const isAdvertised = advertised.includes(entry);
        const expected = isAdvertised ? ['200'] : (REFUSALS[entry] ?? []);
        const isAsExpected =
          answers.length > 0 && answers.every((answer) => expected.includes(answer));
        if (!isAsExpected || added !== Number(isAdvertised && entry.includes('provision'))) {
          found.push(`${entry}, advertised: ${isAdvertised}, ${answers.join()}, added ${added}`);
        }
      }
      return [...found, ...contradictionsWithin(body, row)];
    } finally {
      await server.stop();
    }
  }

  it('advertise what works, and refuse the rest in the documented words without a trace', async () => {
    const rows = ROWS.entries();
    const contradictions: string[] = [];
    await Promise.all(
      lanes.map(async (lane) => {
        for (const [at, row] of rows) {
          const found = await contradictionsOf(row, lane);
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

/** Where the document contradicts itself. */
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
    [
      'a redirect to a method without a login',
      target !== null && !has((one) => one.method === target && one.action !== 'connect'),
    ],
    [
      'restricted entries that are not',
      has(
        (one) =>
          one.method === 'okta' && (one.restricted === true) !== (row['provider'] === 'restricted'),
      ),
    ],
  ];
  return claims.filter(([, isWrong]) => isWrong).map(([name]) => name);
}

async function accountsOf({ sql }: Lane): Promise<number> {
  const { rows } = await sql.query<{ count: number }>('SELECT count(*)::int AS count FROM account');
  return rows[0]?.count ?? 0;
}
