import { FakeGitHub } from '../../fakes/github.js';
import { CLIENT } from '../../fakes/openid-provider.js';
import { PeopleProvider } from '../../fakes/people-provider.js';
import { call, expectErrorShape, logIn, shapeFaultOf, type Answer } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { OPERATIONS, PATHS, type Operation } from './documented-operations.js';
import { ALL_METHODS, attacksOn, type Attack } from './hostile-input.js';
import { callFrom, mtlsEnv, STRANGER } from '../../fixtures/certificate-login-fixture.js';

const LANES = 16;
/** Each route gets thousands of requests, possibly on a busy machine. */

const tokens = new Map<Caller, string>();

type Caller = 'anonymous' | 'keyed' | 'keyless';
const CALLERS: readonly Caller[] = ['anonymous', 'keyed', 'keyless'];

const gitHub = await FakeGitHub.start();
const people = await PeopleProvider.start();
const server = await startServer({
  env: {
    // Every request comes from the proxy, so that its certificate headers are read.
    ...mtlsEnv({ TRUSTED_PROXIES: STRANGER }),
    SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
    SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: '1',
    SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '1',
    SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'people',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([people.entry]),
    AUTH_SIGNUP_PROVIDERS: 'github,people',
    GITHUB_CLIENT_ID: CLIENT.id,
    GITHUB_CLIENT_SECRET: CLIENT.secret,
    GITHUB_BASE_URL: gitHub.url,
    GITHUB_API_URL: `${gitHub.url}/api/v3`,
    AUTH_GITHUB_ALLOWED_ORGS: 'acme',
    AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: 'oauth_user_token',
    AUTH_GITHUB_WEBHOOK_SECRET: 'a-webhook-secret-of-the-spec',
    AUTH_OFFBOARDING_INTERVAL_SECONDS: '3600',
  },
});
afterAll(async () => {
  await server.stop();
  await gitHub.close();
  await people.close();
});

/** Attacks end sessions and delete accounts, so each route has its own sessions. */
async function renewTokens(): Promise<void> {
  tokens.set('keyed', (await logIn(server)).token);
  const certificate = ['x-service-client-cert-email', 'alice@corp.example'] as const;
  const { body } = await callFrom(STRANGER, server, [certificate]);
  tokens.set('keyless', String(body.token));
}

/** Answers to an address that names another route, or none, in place of the route that was tried. */
const ROUTING_CODES = ['invalid-request', 'not-found'];

function faultOf(
  answer: Answer,
  { what, method }: Attack,
  codes: readonly string[],
): string | null {
  const { status } = answer;
  // An answer to HEAD has no body, and an answer to bytes that are not HTTP has another shape.
  if (status < 400 || (status < 500 && method === 'HEAD')) {
    return null;
  }
  const allowed = what === 'an address' ? [...codes, ...ROUTING_CODES] : codes;
  const code = String(answer.body?.['code']);
  return status < 500 && allowed.includes(code) ? shapeFaultOf(answer) : `${status} ${code}`;
}

/** Sends each attack as each caller, or as one of them in turn. @returns those that were answered badly */
async function launch({ codes }: Operation, attacks: readonly Attack[]): Promise<object[]> {
  const queue = attacks.flatMap((attack, index) => {
    const inTurn = CALLERS[index % CALLERS.length] ?? 'anonymous';
    return (attack.forEach === 'caller' ? CALLERS : [inTurn]).map((caller) => ({ attack, caller }));
  });
  const faults: object[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { what, method, path, headers = {}, body } = next.attack;
      const token = tokens.get(next.caller);
      const answer = await call(server, method, path, {
        ...(token !== undefined && { token }),
        ...(body !== undefined && { body }),
        headers,
      }).catch((error: unknown) => String(error));
      const fault = typeof answer === 'string' ? answer : faultOf(answer, next.attack, codes);
      if (fault !== null) {
        faults.push({ what, caller: next.caller, path: path.slice(0, 200), fault });
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, worker));
  return faults;
}

it.each(OPERATIONS)(
  'answers every hostile request to $method $path with a documented refusal',
  async (operation) => {
    await renewTokens();
    expect((await launch(operation, attacksOn(operation))).slice(0, 5)).toEqual([]);
  },
);

const methodsOf = (path: string): readonly string[] =>
  OPERATIONS.filter((one) => one.path === path).map(({ method }) => method);

it.each(PATHS.map((path) => [path, methodsOf(path)] as const))(
  'answers 404 for %s with an undocumented method',
  async (path, own) => {
    const address = path.replaceAll(/\{\w+\}/g, 'people');
    for (const method of ALL_METHODS.filter((one) => !own.includes(one))) {
      const answer = await call(server, method, address);
      if (method === 'OPTIONS') {
        expect(answer.status).toBe(204);
      } else if (method === 'HEAD') {
        expect(answer.text).toBe('');
        expect(await headStatusesOf(address, own)).toContain(answer.status);
      } else {
        expect({ method, code: answer.body?.['code'] }).toEqual({ method, code: 'not-found' });
        expectErrorShape(answer);
      }
    }
  },
);

/** A HEAD is answered as the GET (RFC 9110, 9.3.2), or 404 where that changes state. */
async function headStatusesOf(address: string, own: readonly string[]): Promise<number[]> {
  return own.includes('GET') ? [(await call(server, 'GET', address)).status, 404] : [404];
}

it('has logged no fault during the hostile requests', () => {
  expect(server.logs()).not.toMatch(/"level":"(?:error|fatal)"/);
});
