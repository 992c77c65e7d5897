import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  authorizeQuery,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
} from '../../fixtures/programs-fixture.js';
import {
  backends,
  backendToken,
  basic,
  exchangeForm,
  postForm,
  resourceOf,
} from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf, type Answer } from '../../helpers/client.js';

const PER_BACKEND = 15;
const PER_ADDRESS = 30;
const LOGINS_PER_ADDRESS = 20;
const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

const setup = backends([{ id: 'relay' }, { id: 'files', programs: PROGRAMS }]);
const server = await startServer({
  env: {
    ...setup.env,
    ...PROGRAM_ENV,
    METRICS_TOKEN,
    SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: String(PER_ADDRESS),
    SERVICE_RATE_LIMIT_PER_RESOURCE_SERVER_PER_MINUTE: String(PER_BACKEND),
    AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: String(LOGINS_PER_ADDRESS),
  },
});
afterAll(() => server.stop());

let nextAddress = 0;

/** An unused address, as a trusted proxy forwards it. */
function somewhere(): Readonly<Record<string, string>> {
  nextAddress += 1;
  return { 'x-forwarded-for': `10.2.0.${nextAddress}` };
}

type Headers = Readonly<Record<string, string>>;

const introspect = (token: string, id: string, headers: Headers, secret = setup.secretOf(id)) =>
  postForm(server, '/v1/oauth/introspect', { token }, { ...headers, ...basic(id, secret) });

const forward = (token: string, headers: Headers) =>
  call(server, 'GET', '/v1/oauth/forward-auth/relay', { token, headers });

const repeat = (count: number, act: () => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, act));

const counted = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

async function seriesOf(labels: Readonly<Record<string, string>>): Promise<number> {
  const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  const wanted = Object.entries({ reason: '', ...labels }).map(
    ([name, value]) => `${name}="${value}"`,
  );
  const line = text
    .split('\n')
    .filter((one) => one.startsWith('gatehouse_resource_server_requests_total{'))
    .find((one) => wanted.every((label) => one.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('the limit of introspections', () => {
  it('is one for each backend, also where both have one address', async () => {
    const headers = somewhere();
    const answers = await repeat(50, () => introspect('x', 'relay', headers));
    expect(counted(answers, 200)).toBe(PER_BACKEND);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ error: 'temporarily_unavailable', code: 'rate-limited' });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await introspect('x', 'files', headers)).status).toBe(200);
    expect((await introspect('x', 'relay', somewhere())).status).toBe(429);
  });

  it('does not count a caller with a wrong secret, who has the limit of the address', async () => {
    const headers = somewhere();
    const wrong = () => introspect('x', 'files', headers, 'not-the-secret-of-the-backend');
    const answers = await repeat(50, wrong);
    expect(counted(answers, 401)).toBe(PER_ADDRESS);
    expect(counted(answers, 429)).toBe(50 - PER_ADDRESS);
    expect((await introspect('x', 'files', headers)).status).toBe(200);
  });
});

describe('the limit of an address', () => {
  it('stops neither the signals of a backend that shares it nor its own token', async () => {
    const headers = somewhere();
    const other = await repeat(50, () => call(server, 'GET', '/v1/account/profile', { headers }));
    expect(counted(other, 429)).toBe(50 - PER_ADDRESS);
    const grant = (secret?: string) =>
      postForm(
        server,
        '/v1/oauth/token',
        { grant_type: 'client_credentials' },
        { ...headers, ...basic('relay', secret ?? setup.secretOf('relay')) },
      );
    const granted = await repeat(50, grant);
    expect(counted(granted, 200)).toBe(50);
    const token = String(granted[0]?.body['access_token']);
    const asked = { headers, token };
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/ssf-configuration',
      '/v1/oauth/jwks',
    ]) {
      expect([path, (await call(server, 'GET', path, { headers })).status]).toEqual([path, 200]);
    }
    const { status, body } = await call(server, 'POST', '/v1/ssf/streams', { ...asked, body: {} });
    expect(status).toBe(201);
    const path = `/v1/ssf/streams/${String(body['stream_id'])}/poll`;
    const poll = (text: string) => () =>
      call(server, 'POST', path, { headers, token: text, body: { returnImmediately: true } });
    expect(counted(await repeat(50, poll(token)), 200)).toBe(50);

    expect(counted(await repeat(50, poll('forged')), 401)).toBe(PER_ADDRESS);
    expect((await grant('not-the-secret-of-the-backend')).status).toBe(429);
    expect((await grant()).status).toBe(200);
  });

  it('counts requests for tokens that cannot be read', async () => {
    const headers = somewhere();
    const form = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(1000) };
    const answers = await repeat(50, () => postForm(server, '/v1/oauth/token', form, headers));
    expect([counted(answers, 400), counted(answers, 429)]).toEqual([PER_ADDRESS, 50 - PER_ADDRESS]);
  });

  it('counts each exchange, whatever other requests it sends', async () => {
    const headers = somewhere();
    const session = await tokenOf(server, makeDeviceKey());
    const exchange = () =>
      postForm(server, '/v1/oauth/token', exchangeForm(session, 'relay'), headers);
    const answers = await repeat(50, exchange);
    expect([counted(answers, 200), counted(answers, 429)]).toEqual([PER_ADDRESS, 50 - PER_ADDRESS]);
  });
});

describe('the limit of requests of programs', () => {
  it('is that of logins: each request is stored, and may fetch a document', async () => {
    const headers = somewhere();
    const parameters = authorizeQuery(newVerifier(), { resource: resourceOf('files') });
    const path = `/v1/oauth/authorize?${new URLSearchParams(parameters).toString()}`;
    const answers = await repeat(25, () => call(server, 'GET', path, { headers }));
    expect(counted(answers, 302)).toBe(LOGINS_PER_ADDRESS);
    expect(counted(answers, 429)).toBe(25 - LOGINS_PER_ADDRESS);
  });
});

describe('the limit of forward-auth', () => {
  it('counts refusals of an address, and never stops a person with a valid token', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    const proxy = somewhere();
    expect(counted(await repeat(50, () => forward(token, proxy)), 200)).toBe(50);
    const refused = await repeat(50, () => forward('forged', proxy));
    expect([counted(refused, 401), counted(refused, 429)]).toEqual([PER_ADDRESS, 50 - PER_ADDRESS]);
    expect((await forward(token, proxy)).status).toBe(200);
    expect(refusalOf(await forward('forged', somewhere()))).toMatchObject({ status: 401 });
  });
});

describe('the counts of requests', () => {
  it('names the backend, the outcome and the code', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const headers = somewhere();
    const before = await seriesOf({ request: 'exchange', resource_server: 'files', outcome: 'ok' });
    const token = await backendToken(server, session, 'files');
    await introspect(token, 'files', headers);
    await introspect('x', 'files', headers);
    await introspect('x', 'files', headers, 'not-the-secret-of-the-backend');
    await forward(token, headers);
    const other = { ...exchangeForm(session, 'files'), resource: 'https://elsewhere.example.com' };
    await postForm(server, '/v1/oauth/token', other, headers);
    await postForm(server, '/v1/oauth/token', { grant_type: 'password' }, headers);
    const files = { resource_server: 'files' };
    expect(await seriesOf({ request: 'exchange', ...files, outcome: 'ok' })).toBe(before + 1);
    expect(await seriesOf({ request: 'introspection', ...files, outcome: 'ok' })).toBe(1);
    expect(
      await seriesOf({ request: 'introspection', ...files, outcome: 'inactive' }),
    ).toBeGreaterThan(0);
    expect(
      await seriesOf({
        ...{ request: 'introspection', ...files, outcome: 'refused' },
        reason: 'invalid-client',
      }),
    ).toBeGreaterThan(0);
    expect(
      await seriesOf({
        ...{ request: 'forward_auth', resource_server: 'relay' },
        ...{ outcome: 'refused', reason: 'invalid-token' },
      }),
    ).toBeGreaterThan(0);
    expect(
      await seriesOf({
        ...{ request: 'exchange', resource_server: 'unknown' },
        ...{ outcome: 'refused', reason: 'invalid-target' },
      }),
    ).toBe(1);
    expect(
      await seriesOf({
        ...{ request: 'token', resource_server: 'unknown' },
        ...{ outcome: 'refused', reason: 'unsupported-grant-type' },
      }),
    ).toBe(1);
  });

  it('uses labels of the configuration only', async () => {
    await call(server, 'GET', '/v1/oauth/forward-auth/chosen-by-a-caller', {
      headers: somewhere(),
    });
    await postForm(
      server,
      '/v1/oauth/introspect',
      { token: 'x' },
      {
        ...somewhere(),
        ...basic('chosen-by-a-caller', 'x'),
      },
    );
    const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    expect(text).not.toContain('chosen-by-a-caller');
    expect(text).toContain(
      'gatehouse_resource_server_requests_total{request="forward_auth",resource_server="unknown"',
    );
  });
});
