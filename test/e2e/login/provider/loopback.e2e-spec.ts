import { loopbackCode } from '../../../../src/core/protocol/loopback-code.js';
import { call, logIn, makeDeviceKey, refusalOf, type Answer } from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  begin,
  callbackOf,
  finalize,
  params,
  RETURN_BASE,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const PORT = '49152';
const TARGET = `http://127.0.0.1:${PORT}/oauth/okta`;

const entry = { displayName: `Acme <b>"&' Okta` };
const fixture = await startLoginFixture({ entry });
const server = fixture.server;
afterAll(() => fixture.stop());

const stateOf = (url: string): string => new URL(url).searchParams.get('state') ?? '';

async function pageOf(url: string, user: string): Promise<Answer> {
  const at = await callbackOf(server, url, user);
  return call(server, 'GET', at.pathname + at.search);
}

/** Returns the target of the only link of the page. */
function linkOf({ text }: Answer): URL {
  const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href);
  expect(links).toHaveLength(1);
  return new URL(links[0]?.replaceAll('&amp;', '&') ?? '');
}

describe('a login that returns to a program on the computer', () => {
  it('asks for confirmation on a page of this server before it redirects', async () => {
    const { url, proof } = await begin(server, 'okta', { loopbackPort: PORT });
    const page = await pageOf(url, 'anna');
    expect(page.status).toBe(200);
    expect(page.headers.location).toBeUndefined();
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|script-src/);
    expect(page.text).not.toMatch(/<script|http-equiv|<b>/i);
    expect(page.text).toContain(`<p class="code">${loopbackCode(stateOf(url))}</p>`);
    expect(page.text).toContain('Acme &lt;b&gt;&quot;&amp;&#39; Okta');
    expect(page.text).toContain(`<strong>${PORT}</strong>`);
    const link = linkOf(page);
    expect(link.origin + link.pathname).toBe(TARGET);
    const pending = link.searchParams.get('pending') ?? '';
    expect((await finalize(server, pending, makeDeviceKey(), { proof })).status).toBe(200);
  });

  it('deletes the login when the person cancels', async () => {
    const { url, proof } = await begin(server, 'okta', { loopbackPort: PORT });
    const page = await pageOf(url, 'berta');
    const [, pending = ''] = /name="pending" value="([^"]+)"/.exec(page.text) ?? [];
    expect(linkOf(page).searchParams.get('pending')).toBe(pending);
    const form = { method: 'POST', body: new URLSearchParams({ pending }) };
    const answer = await fetch(`${server.url}/v1/oauth/okta/cancel`, form);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('<h1>Cancelled</h1>');
    expect(text).not.toContain('127.0.0.1');
    const late = await finalize(server, pending, makeDeviceKey(), { proof });
    expect(refusalOf(late)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('asks for confirmation of a connection, and shows a refusal', async () => {
    const { token } = await logIn(server);
    const path = `/v1/connect/external/okta/params?loopbackPort=${PORT}`;
    const { body } = await call(server, 'GET', path, { token });
    const url = String(body['url']);
    const connecting = await pageOf(url, 'clara');
    expect(connecting.text).toContain('connect your Acme');
    expect(connecting.text).toContain(loopbackCode(stateOf(url)));
    expect(linkOf(connecting).searchParams.get('flow')).toBe('connect');

    const login = await begin(server, 'okta', { loopbackPort: PORT });
    const search = `?state=${stateOf(login.url)}&error=access_denied`;
    const iss = `&iss=${encodeURIComponent(fixture.oidc.issuer)}`;
    const refused = await call(server, 'GET', `/v1/oauth/okta/callback${search}${iss}`);
    expect(refused.status).toBe(200);
    expect(linkOf(refused).href).toBe(`${TARGET}?flow=auth&error=access_denied`);
    // The state is consumed, and with it the port that the caller named.
    const again = await call(server, 'GET', `/v1/oauth/okta/callback${search}${iss}`);
    expect(again.headers.location).toBe(`${RETURN_BASE}/okta?flow=auth&error=invalid_state`);
  });

  it.each<[string, RequestInit]>([
    ['no body', {}],
    ['an empty form', { body: new URLSearchParams() }],
    ['an unknown login', { body: new URLSearchParams({ pending: '\0\u{10ffff}' }) }],
  ])('ignores a cancellation with %s', async (_, init) => {
    const answer = await fetch(`${server.url}/v1/oauth/okta/cancel`, { method: 'POST', ...init });
    expect(answer.status).toBe(200);
  });

  it('cancels only by a form', async () => {
    const answer = await call(server, 'POST', '/v1/oauth/okta/cancel', { body: { pending: 'x' } });
    expect(refusalOf(answer)).toEqual({ status: 415, code: 'unsupported-media-type' });
  });

  it.each(['0', '80', '1023', '65536', '3000.5', '-1', '3000@evil.example', '3000/..', ''])(
    'refuses the port %j',
    async (loopbackPort) => {
      const query = { mode: 'keyed', proofHash: 'a'.repeat(64), loopbackPort };
      expect((await params(server, 'okta', query)).status).toBe(400);
    },
  );
});

describe('AUTH_LOOPBACK_RETURN_ENABLED=0', () => {
  it('refuses the port, and ends logins that began before', async () => {
    const { url } = await begin(server, 'okta', { loopbackPort: PORT });
    const at = await callbackOf(server, url, 'dora');
    // The embedded database supports one server at a time.
    await server.stop();
    const env = { ...fixture.env, PORT: '0', AUTH_LOOPBACK_RETURN_ENABLED: '0' };
    const other = await startServer({ store: fixture.store, env });
    try {
      const query = { mode: 'keyed', proofHash: 'a'.repeat(64), loopbackPort: PORT };
      const refused = await params(other, 'okta', query);
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
      expect(refused.body['details']).toMatchObject([{ path: 'loopbackPort' }]);
      const { token } = await logIn(other);
      const path = `/v1/connect/external/okta/params?loopbackPort=${PORT}`;
      const connect = await call(other, 'GET', path, { token });
      expect(refusalOf(connect)).toEqual({ status: 400, code: 'invalid-request' });
      const late = await call(other, 'GET', at.pathname + at.search);
      expect(late.headers.location).toBe(`${RETURN_BASE}/okta?flow=auth&error=invalid_state`);
    } finally {
      await other.stop();
    }
  });
});
