import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  certificateDirectory,
  selfSigned,
} from '../../../../test/fixtures/certificates-fixture.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import { DIRECT, PATIENT_LIMITS } from '../../../../test/fixtures/provider-settings-fixture.js';
import { CircuitBreaker, RequestBudget, UpstreamHttp } from './upstream-http.js';

describe(UpstreamHttp, () => {
  let server: LocalServer;
  let paths: string[];

  beforeEach(async () => {
    paths = [];
    server = await startLocalServer(({ url, headers }) => {
      paths.push(url.pathname);
      switch (url.pathname) {
        case '/ok':
          return { status: 200, json: { custom: headers['x-custom'] ?? null } };
        case '/empty':
          return { status: 204 };
        case '/moved':
          return 'redirect';
        case '/huge':
          return 'huge-body';
        case '/slow':
          return 'slow-body';
        case '/busy':
          return { status: 429, headers: { 'retry-after': '7' } };
        case '/closed':
          return { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' } };
        default:
          return 'server-error';
      }
    });
  });

  afterEach(() => server.close());

  const httpWith = (given: object = {}): UpstreamHttp =>
    new UpstreamHttp(new Runtime(), DIRECT, { ...PATIENT_LIMITS, ...given });

  it('returns the answer, and sends the given method, headers and body', async () => {
    const response = await httpWith().fetch(`${server.url}/ok`, { headers: { 'x-custom': 'yes' } });
    expect(await response.json()).toEqual({ custom: 'yes' });
    expect((await httpWith().fetch(`${server.url}/empty`)).status).toBe(204);
  });

  it('does not follow a redirect', async () => {
    expect((await httpWith().fetch(`${server.url}/moved`)).status).toBe(302);
    expect(paths).toEqual(['/moved']);
  });

  it.each([
    ['http://upstream.example/'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://localhost.evil.example/'],
    ['file:///etc/passwd'],
    ['data:application/json,{}'],
  ])('sends nothing to %s', async (address) => {
    await expect(httpWith().fetch(address)).rejects.toMatchObject({ failure: 'insecure_address' });
  });

  it.each([
    ['/huge', 'too_large', {}],
    ['/slow', 'timeout', { timeoutMs: 200 }],
    ['/broken', 'server_error', {}],
    ['/busy', 'rate_limited', {}],
  ])('fails at %s: %s', async (path, failure, given) => {
    await expect(httpWith(given).fetch(server.url + path)).rejects.toMatchObject({ failure });
  });

  it('returns the time to wait', async () => {
    const busy = httpWith().fetch(`${server.url}/busy`);
    await expect(busy).rejects.toMatchObject({ retryAfterMs: 7_000 });
    const closed = httpWith().fetch(`${server.url}/closed`);
    await expect(closed).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  });

  it('names the step that failed before there was an answer', async () => {
    const directory = certificateDirectory();
    const { cert, key } = selfSigned(directory, 'localhost', 'IP:127.0.0.1');
    const secure = createServer({ cert, key }).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const { port } = secure.address() as AddressInfo;
    const refused = await httpWith()
      .fetch(`https://127.0.0.1:${port}/`)
      .catch((error: unknown) => error);
    secure.close();
    expect(refused).toMatchObject({
      ...{ failure: 'tls_error', detail: 'INVALID_PURPOSE' },
      message: 'The upstream failed: tls_error (INVALID_PURPOSE)',
    });
    await expect(httpWith().fetch('https://no-such-host.invalid/')).rejects.toMatchObject({
      failure: 'dns_error',
    });
    await server.close();
    await expect(httpWith().fetch(`${server.url}/ok`)).rejects.toMatchObject({
      ...{ failure: 'connection_refused', detail: 'ECONNREFUSED' },
    });
  });

  it('reports aborted when the caller aborts, and timeout when the time of the caller is over', async () => {
    const hasty = httpWith().fetch(`${server.url}/slow`, { signal: AbortSignal.timeout(1) });
    await expect(hasty).rejects.toMatchObject({ failure: 'timeout' });
    const signal = AbortSignal.abort();
    await expect(httpWith().fetch(`${server.url}/ok`, { signal })).rejects.toMatchObject({
      failure: 'aborted',
    });
  });

  it('stops calling an upstream that keeps failing', async () => {
    const http = httpWith({ breaker: { failuresToOpen: 2, openMs: 60_000 } });
    for (let time = 0; time < 2; time += 1) {
      await expect(http.fetch(`${server.url}/broken`)).rejects.toMatchObject({
        failure: 'server_error',
      });
    }
    await expect(http.fetch(`${server.url}/ok`)).rejects.toMatchObject({ failure: 'circuit_open' });
    expect(paths).toHaveLength(2);
  });

  it('refuses a request that would wait too long', async () => {
    const http = httpWith({ budget: { perSecond: 0.001, burst: 1, longestWaitMs: 100 } });
    await http.fetch(`${server.url}/ok`);
    await expect(http.fetch(`${server.url}/ok`)).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(paths).toHaveLength(1);
  });
});

describe(CircuitBreaker, () => {
  it('opens after consecutive failures, permits one request later, and closes when it succeeds', () => {
    const breaker = new CircuitBreaker({ failuresToOpen: 2, openMs: 100 });
    breaker.failed(0);
    breaker.succeeded();
    breaker.failed(0);
    expect(breaker.waitMs(0)).toBe(0);
    breaker.failed(10);
    expect(breaker.waitMs(10)).toBe(100);
    expect(breaker.waitMs(110)).toBe(0);
    expect(breaker.waitMs(111)).toBe(99);
    breaker.succeeded();
    expect(breaker.waitMs(112)).toBe(0);
  });
});

describe(RequestBudget, () => {
  it('permits a burst at once, then spaces requests, then refuses them', () => {
    const budget = new RequestBudget({ perSecond: 10, burst: 3, longestWaitMs: 200 });
    const waits = Array.from({ length: 6 }, () => budget.reserve(1_000));
    expect(waits).toEqual([0, 0, 0, 100, 200, null]);
    expect(budget.reserve(1_200)).toBe(100);
  });

  it('survives a clock that is set back', () => {
    const budget = new RequestBudget({ perSecond: 10, burst: 1, longestWaitMs: 200 });
    expect(budget.reserve(1_000_000)).toBe(0);
    expect(budget.reserve(1_000)).toBe(0);
  });
});
