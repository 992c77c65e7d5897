import { call, logIn, makeDeviceKey } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startLocalServer } from '../../helpers/local-server.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly {
    key: string;
    value: { stringValue?: string; intValue?: number };
  }[];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

let received = '';
let spans: Span[] = [];

const receiver = await startLocalServer(({ url, body }) => {
  expect(url.pathname).toBe('/v1/traces');
  received += body;
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
  };
  spans.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
  return { status: 200, json: {} };
});

beforeEach(() => {
  received = '';
  spans = [];
});

afterAll(() => receiver.close());

const startTraced = (env: Record<string, string> = {}): Promise<Server> =>
  startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } });

function attribute(span: Span | undefined, key: string): unknown {
  const value = span?.attributes.find((one) => one.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('exports requests, statements and handshakes as one trace each, also logged, without a secret', async () => {
    const server = await startTraced({
      ...{ OTEL_SERVICE_NAME: 'gate-7', SERVICE_LOG_LEVEL: 'debug' },
    });
    const key = makeDeviceKey();
    const { token } = await logIn(server, key);
    await call(server, 'POST', '/v1/push-tokens', {
      token,
      body: { token: 'a-push-token' },
      headers: { traceparent: `00-${TRACE}-${CALLER}-01`, 'x-request-id': 'request-7' },
    });
    await call(server, 'DELETE', '/v1/push-tokens/a-push-token', { token });
    const live = await connect(server, { token });
    live.close();
    await call(server, 'GET', '/livez');
    await call(server, 'GET', '/v1/account/profile', {
      headers: { traceparent: `00-${TRACE}-${CALLER}-01`, 'x-request-id': 'request-8' },
    });
    const [line] = await server.logged(/^(?=.*request refused).*request-8.*$/m);
    expect(JSON.parse(line)).toMatchObject({ requestId: 'request-8', trace_id: TRACE });
    await server.kill('SIGTERM');
    await server.stop();

    const request = spans.find(({ name }) => name === 'POST /v1/push-tokens');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
    expect(attribute(request, 'http.route')).toBe('/v1/push-tokens');
    expect(attribute(request, 'http.response.status_code')).toBe(200);
    expect(attribute(request, 'gatehouse.request_id')).toBe('request-7');
    const parts = spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
    expect(parts.map(({ name }) => name)).toContain('SELECT account');
    expect(parts.every(({ traceId }) => traceId === TRACE)).toBe(true);
    expect(attribute(parts[0], 'db.system.name')).toBe('postgresql');

    const names = spans.map(({ name }) => name);
    expect(names).toContain('POST /v1/auth');
    expect(names).toContain('DELETE /v1/push-tokens/:token');
    expect(names).toContain('handshake /v1/updates');
    expect(names.filter((name) => /livez|readyz/.test(name))).toEqual([]);
    expect(received).toContain('gate-7');
    for (const secret of [token, key.publicKey, 'a-push-token']) {
      expect(received).not.toContain(secret);
    }
  });

  it('loses only traces while the receiver is unavailable', async () => {
    const server = await startServer({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_BSP_SCHEDULE_DELAY: '50' },
    });
    await logIn(server);
    expect((await call(server, 'GET', '/readyz')).status).toBe(200);
    expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(server.logs()).not.toMatch(/unhandled|uncaught/i);
    await server.stop();
  });
});

describe('without tracing', () => {
  it.each<Record<string, string>>([
    { OTEL_TRACES_EXPORTER: 'zipkin' },
    { OTEL_SDK_DISABLED: 'true' },
  ])('exports nothing with %j', async (env) => {
    const server = await startTraced(env);
    await logIn(server);
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(spans).toEqual([]);
    expect(server.logs().includes('is not known here')).toBe(
      env['OTEL_TRACES_EXPORTER'] === 'zipkin',
    );
    await server.stop();
  });
});
