import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { at, type Json } from '../chart/render.js';
import { spellingsOf } from '../fixtures/certificate-login-fixture.js';
import { EnvoyTypes } from './envoy-types.js';

const SAMPLES = new URL('../../docker/proxies/forward-auth/', import.meta.url);
const IDENTITY = ['x-gatehouse-account', 'x-gatehouse-session', 'x-gatehouse-login'];
/** Headers by which a client could claim another address of its own or of the backend. */
const CLAIMED = [
  'forwarded',
  ...['host', 'port', 'prefix', 'server'].map((name) => `x-forwarded-${name}`),
  'x-real-ip',
];
const CREDENTIALS = ['authorization', 'sec-websocket-protocol'];

type Fields = Readonly<Record<string, unknown>>;

const read = (file: string): Json => parse(readFileSync(new URL(file, SAMPLES), 'utf8')) as Json;
const names = (list: unknown): string[] => (list as string[]).map((name) => name.toLowerCase());

describe('docker/proxies/forward-auth/envoy.yaml', () => {
  const envoy = read('envoy.yaml');
  const manager = at(
    envoy,
    'static_resources.listeners.0.filter_chains.0.filters.0.typed_config',
  ) as Json;
  const [mutation, check, router] = at(manager, 'http_filters') as unknown as Fields[];
  const exactOf = (path: string): unknown[] =>
    (at(check as Json, `typed_config.${path}.patterns`) as unknown as Fields[]).map(
      (one) => one['exact'],
    );

  it('contains only fields and values of the API of Envoy', async () => {
    expect((await EnvoyTypes.load()).problemsIn(envoy)).toEqual([]);
  });

  it('removes the identity that a client sends before it asks Gatehouse', () => {
    const order = [mutation, check, router].map((filter) => filter?.['name']);
    expect(order).toEqual(
      ['header_mutation', 'ext_authz', 'router'].map((name) => `envoy.filters.http.${name}`),
    );
    const removed = at(
      mutation as Json,
      'typed_config.mutations.request_mutations',
    ) as unknown as Fields[];
    expect(removed.map((one) => one['remove'])).toEqual([...IDENTITY, ...CLAIMED]);
    expect(at(manager, 'common_http_protocol_options.headers_with_underscores_action')).toBe(
      'DROP_HEADER',
    );
  });

  it('sets the identity that Gatehouse answers, and fails closed', () => {
    expect(exactOf('http_service.authorization_response.allowed_upstream_headers')).toEqual(
      IDENTITY,
    );
    // Envoy sends the Authorization header in any case.
    expect(exactOf('allowed_headers')).toContain('sec-websocket-protocol');
    expect(at(check as Json, 'typed_config')).toMatchObject({
      failure_mode_allow: false,
      status_on_error: { code: 'ServiceUnavailable' },
      http_service: { path_prefix: '/v1/oauth/forward-auth/relay' },
    });
    expect(at(check as Json, 'typed_config')).not.toHaveProperty('with_request_body');
  });

  it('asks Gatehouse about everything except preflights', () => {
    const [preflight, rest, ...others] = at(
      manager,
      'route_config.virtual_hosts.0.routes',
    ) as unknown as Fields[];
    expect(at(preflight as Json, 'match.headers')).toEqual([
      { name: ':method', string_match: { exact: 'OPTIONS' } },
      { name: 'access-control-request-method', present_match: true },
    ]);
    expect(rest).not.toHaveProperty('typed_per_filter_config');
    expect(others).toEqual([]);
  });

  it('logs no header and no query', () => {
    expect(manager).not.toHaveProperty('access_log');
  });
});

describe('docker/proxies/forward-auth/traefik-routes.yaml', () => {
  const routes = read('traefik-routes.yaml');
  const gatehouse = at(routes, 'http.middlewares.gatehouse.forwardAuth') as unknown as Fields;

  it('asks Gatehouse about everything except preflights', () => {
    const { preflight, relay, sockets, ...others } = at(
      routes,
      'http.routers',
    ) as unknown as Record<string, Fields>;
    expect(preflight?.['rule']).toBe(
      'Host(`relay.example.org`) && Method(`OPTIONS`) && HeaderRegexp(`Access-Control-Request-Method`, `.`)',
    );
    expect(Number(preflight?.['priority'])).toBeGreaterThan(Number(relay?.['priority']));
    expect([preflight?.['middlewares'], relay?.['middlewares']]).toEqual([
      ['strip', 'noUpgrade'],
      ['strip', 'noUpgrade', 'gatehouse'],
    ]);
    expect(sockets?.['middlewares']).toEqual(['strip', 'webSocket', 'gatehouse']);
    expect(others).toEqual({});
  });

  it('passes on an upgrade to WebSocket alone, of requests that it asks about', () => {
    const { noUpgrade, webSocket } = at(routes, 'http.middlewares') as unknown as Fields;
    expect([noUpgrade, webSocket]).toEqual([
      { headers: { customRequestHeaders: { Upgrade: '' } } },
      { headers: { customRequestHeaders: { Upgrade: 'websocket' } } },
    ]);
    const { preflight, relay, sockets } = at(routes, 'http.routers') as unknown as Record<
      string,
      Fields
    >;
    expect(sockets?.['rule']).toBe(
      `${String(relay?.['rule'])} && Method(\`GET\`) && HeaderRegexp(\`Upgrade\`, \`(?i)^websocket$\`)`,
    );
    const priorities = [relay, sockets, preflight].map((router) => Number(router?.['priority']));
    expect(priorities).toEqual(priorities.toSorted((one, other) => one - other));
  });

  it('removes the identity that a client sends, in every spelling of a name', () => {
    const removed = at(
      routes,
      'http.middlewares.strip.headers.customRequestHeaders',
    ) as unknown as Fields;
    expect(Object.values(removed)).toEqual(Array(14).fill(''));
    // Go compares names after the first letter and each letter after a hyphen became a capital.
    const canonical = (name: string): string =>
      name.toLowerCase().replaceAll(/(^|-)./g, (letters) => letters.toUpperCase());
    const expected = IDENTITY.flatMap((name) => {
      const [x, product, field] = name.split('-');
      return ['--', '-_', '_-', '__'].map(([one, two]) =>
        canonical(`${x}${one}${product}${two}${field}`),
      );
    });
    // Traefik replaces the other headers about addresses itself.
    expected.push('Forwarded', 'X-Forwarded-Prefix');
    expect(Object.keys(removed).sort()).toEqual(expected.sort());
  });

  it('replaces every header that could be taken for the identity', () => {
    const [, pattern = ''] =
      /^\(\?i\)(.+)$/.exec(String(gatehouse['authResponseHeadersRegex'])) ?? [];
    for (const spelling of IDENTITY.flatMap(spellingsOf)) {
      expect(spelling).toMatch(new RegExp(pattern, 'i'));
    }
    expect(names(gatehouse['authRequestHeaders'])).toEqual(CREDENTIALS);
    expect(gatehouse).toMatchObject({
      address: 'http://gatehouse:3000/v1/oauth/forward-auth/relay',
      trustForwardHeader: false,
    });
  });

  it('logs no header and no query', () => {
    expect(at(read('traefik.yaml'), 'accessLog')).toEqual({
      format: 'json',
      fields: {
        names: { RequestLine: 'drop', RequestPath: 'drop' },
        headers: { defaultMode: 'drop' },
      },
    });
  });
});
