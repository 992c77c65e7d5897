import { METHODS } from 'node:http';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';

const setup = backends([{ id: 'relay' }]);
const server = await startServer({ env: setup.env });
afterAll(() => server.stop());

const forward = (token: string, id = 'relay', path = '') =>
  call(server, 'GET', `/v1/oauth/forward-auth/${id}${path}`, { token });

describe('forward-auth', () => {
  it('accepts every method, and ignores body and type', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
      const body = /^(GET|HEAD|TRACE)$/.test(method) ? undefined : '{"not json';
      const path = '/v1/oauth/forward-auth/relay/x';
      const admitted = await call(server, method, path, { token, body });
      const refused = await call(server, method, path, { body });
      expect([method, admitted.status, refused.status]).toEqual([method, 200, 401]);
    }
  });

  it('refuses OPTIONS without a token, also as the preflight of a browser', async () => {
    const preflight = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'DELETE',
    };
    for (const headers of [{}, preflight]) {
      const answer = await call(server, 'OPTIONS', '/v1/oauth/forward-auth/relay/x', { headers });
      expect(refusalOf(answer)).toMatchObject({ status: 401, code: 'missing-token' });
      expect(answer.headers).not.toHaveProperty('access-control-allow-methods');
    }
  });

  it('reads nothing of the query', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    expect((await forward(token, 'relay', '/x?from=/a/../b&next=%2e%2e/')).status).toBe(200);
  });

  it('accepts the token in a subprotocol, and exactly one credential', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    const ask = (headers: Record<string, string>) =>
      call(server, 'GET', '/v1/oauth/forward-auth/relay', { headers });
    const offered = { 'sec-websocket-protocol': `app, bearer.${token}` };
    expect((await ask(offered)).status).toBe(200);
    expect(refusalOf(await ask({ ...offered, authorization: `Bearer ${token}` }))).toMatchObject({
      ...{ status: 400, code: 'invalid-request' },
    });
    const twice = { 'sec-websocket-protocol': `bearer.${token}, bearer.${token}` };
    expect((await ask(twice)).status).toBe(400);
    const none = await ask({});
    expect(refusalOf(none)).toMatchObject({ status: 401, code: 'missing-token' });
    expect(none.headers['www-authenticate']).toBe('Bearer');
  });

  it.each([
    '/..',
    '/a/../b',
    '/a/./b',
    '/%2e%2e/b',
    '/a%2f..%2fb',
    '/.%2E/b',
    '/..;/b',
    '/a/.%2e;x=1/b',
    '/a%2f..%3b/b',
  ])('refuses the path %s', async (path) => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    expect(refusalOf(await forward(token, 'relay', path))).toMatchObject({
      ...{ status: 400, code: 'invalid-request' },
    });
  });

  it('answers 404 for an unknown backend', async () => {
    expect((await forward('x', 'unknown')).status).toBe(404);
  });
});
