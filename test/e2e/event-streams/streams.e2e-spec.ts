import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  askClientToken,
  clientToken,
  endedIn,
  EventStreamFixture,
  SESSION_REVOKED,
  VERIFICATION,
} from '../../fixtures/event-stream-fixture.js';
import { backends, backendToken, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const setup = backends([{ id: 'relay' }, { id: 'files' }]);
const server = await startServer({ env: setup.env });
afterAll(() => server.stop());

const sidOf = (token: string): string => decodeJwt(token)['sid'] as string;

/** A session with a token at each of these backends. */
async function visitor(...ids: readonly string[]) {
  const session = await tokenOf(server, makeDeviceKey());
  const tokens = await Promise.all(ids.map((id) => backendToken(server, session, id)));
  return { session, accountId: decodeJwt(session).sub, sids: tokens.map(sidOf), tokens };
}

const logOut = (token: string) => call(server, 'POST', '/v1/auth/logout', { token });

const open = (id = 'relay') => EventStreamFixture.open(server, setup, id);

describe('the metadata', () => {
  it('names the endpoints of the transmitter', async () => {
    const { status, body } = await call(server, 'GET', '/.well-known/ssf-configuration');
    expect(status).toBe(200);
    expect(body).toEqual({
      spec_version: '1_0',
      issuer: 'https://gate.example.com',
      jwks_uri: 'https://gate.example.com/v1/oauth/jwks',
      delivery_methods_supported: ['urn:ietf:rfc:8936'],
      configuration_endpoint: 'https://gate.example.com/v1/ssf/streams',
      status_endpoint: 'https://gate.example.com/v1/ssf/status',
      verification_endpoint: 'https://gate.example.com/v1/ssf/verification',
      critical_subject_members: ['session'],
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    });
  });
});

describe('the token of a backend', () => {
  it('has the scopes that the backend asks for', async () => {
    const { status, headers, body } = await askClientToken(server, setup, 'relay', 'ssf.read');
    expect({ status, store: headers['cache-control'] }).toEqual({ status: 200, store: 'no-store' });
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'ssf.read',
    });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(body['access_token'] as string);
    expect(exp - iat).toBe(300);
    expect(claims).toMatchObject({
      iss: 'https://gate.example.com',
      aud: ['https://gate.example.com/v1/ssf'],
      sub: 'client:relay',
      client_id: 'relay',
      scope: 'ssf.read',
    });
  });

  it('is refused for an unknown scope and to an unknown client', async () => {
    for (const scope of ['admin', 'ssf.read admin', 'ssf.read  ssf.manage']) {
      const { status, body } = await askClientToken(server, setup, 'relay', scope);
      expect({ status, ...body }).toMatchObject({ status: 400, error: 'invalid_scope' });
    }
    const omitted = await askClientToken(server, setup, 'relay');
    const empty = await askClientToken(server, setup, 'relay', '');
    expect(empty.body['scope']).toBe(omitted.body['scope']);
    const wrong = basic('relay', setup.secretOf('files'));
    for (const headers of [wrong, {}]) {
      const fields = { grant_type: 'client_credentials' };
      const { status, body } = await postForm(server, '/v1/oauth/token', fields, headers);
      expect({ status, ...body }).toMatchObject({ status: 401, error: 'invalid_client' });
    }
  });

  it('asks about tokens with the scope introspect alone', async () => {
    const { tokens } = await visitor('relay');
    const ask = (token: string) =>
      postForm(
        server,
        '/v1/oauth/introspect',
        { token: tokens[0] ?? '' },
        {
          authorization: `Bearer ${token}`,
        },
      );
    const mine = await clientToken(server, setup, 'relay', 'introspect');
    expect((await ask(mine)).body).toMatchObject({ active: true });
    const others = await clientToken(server, setup, 'files', 'introspect');
    expect((await ask(others)).body).toEqual({ active: false });
    const reader = await clientToken(server, setup, 'relay', 'ssf.read');
    expect((await ask(reader)).status).toBe(401);
  });
});

describe('a stream', () => {
  it('delivers the end of a session until it is acknowledged', async () => {
    const stream = await open();
    const { session, accountId, sids } = await visitor('relay', 'files');
    await logOut(session);
    const [event, ...others] = await stream.until(sids[0] ?? '');
    expect(others).toEqual([]);
    const { iat, jti, txn, ...claims } = event ?? {};
    expect([typeof iat, typeof jti, typeof txn]).toEqual(['number', 'string', 'string']);
    expect(claims).toEqual({
      iss: 'https://gate.example.com',
      aud: 'https://relay.example.com',
      sub_id: {
        format: 'complex',
        session: { format: 'opaque', id: sids[0] },
        user: { format: 'iss_sub', iss: 'https://gate.example.com', sub: accountId },
      },
      events: {
        [SESSION_REVOKED]: {
          event_timestamp: expect.any(Number),
          initiating_entity: 'user',
          reason_admin: { en: 'The session was ended.' },
        },
      },
    });
    expect(await stream.take()).toEqual([]);
    expect(endedIn(await (await open('files')).take())).toContain(sids[1]);
  });

  it('gives each stream every event, and delivers it with the same id again', async () => {
    const [one, two] = [await open(), await open()];
    const { session, sids } = await visitor('relay');
    await logOut(session);
    const first = (await one.waiting()).find((event) => endedIn([event]).includes(sids[0] ?? ''));
    const again = (await one.waiting()).find((event) => endedIn([event]).includes(sids[0] ?? ''));
    expect(first?.jti).toBeDefined();
    expect(again?.jti).toBe(first?.jti);
    expect(endedIn(await one.take())).toContain(sids[0]);
    expect(await one.waiting()).toEqual([]);
    expect(endedIn(await two.take())).toContain(sids[0]);
  });

  it('keeps what was not acknowledged, in any order', async () => {
    const stream = await open();
    await stream.take();
    const visitors = await Promise.all(Array.from({ length: 5 }, () => visitor('relay')));
    for (const { session } of visitors) {
      await logOut(session);
    }
    const [first, second, third, fourth, fifth] = await stream.waiting();
    const ack = (...events: ({ jti: string } | undefined)[]) =>
      stream.poll({ maxEvents: 0, ack: events.map((event) => event?.jti ?? '') });
    await ack(second, fourth);
    expect((await stream.waiting()).map(({ jti }) => jti)).toEqual(
      [first, third, fifth].map((event) => event?.jti),
    );
    await stream.poll({ maxEvents: 0, setErrs: { [first?.jti ?? '']: { err: 'invalid_key' } } });
    expect((await stream.waiting()).map(({ jti }) => jti)).toEqual(
      [third, fifth].map((event) => event?.jti),
    );
    await ack(third, fifth);
    expect(await stream.waiting()).toEqual([]);
  });

  it('answers in parts, and says when there is more', async () => {
    const stream = await open();
    await stream.take();
    const visitors = await Promise.all(Array.from({ length: 3 }, () => visitor('relay')));
    await Promise.all(visitors.map(({ session }) => logOut(session)));
    const { body } = await stream.poll({ maxEvents: 2, returnImmediately: true });
    expect([Object.keys(body.sets).length, body.moreAvailable]).toEqual([2, true]);
    const rest = await stream.poll({
      ...{ maxEvents: 2, returnImmediately: true },
      ack: Object.keys(body.sets),
    });
    expect([Object.keys(rest.body.sets).length, rest.body.moreAvailable]).toEqual([1, false]);
  });

  it('has the events of the last minutes when it is new', async () => {
    const { session, sids } = await visitor('relay');
    await logOut(session);
    expect(endedIn(await (await open()).take())).toContain(sids[0]);
  });

  it('wakes a poll that waits, and one request at a time', async () => {
    const stream = await open();
    await stream.take();
    const { session, sids } = await visitor('relay');
    const earlier = stream.poll();
    const waiting = stream.until(sids[0] ?? '');
    expect((await earlier).body).toEqual({ sets: {}, moreAvailable: false });
    await logOut(session);
    expect(endedIn(await waiting)).toContain(sids[0]);
  });

  it('keeps a poll waiting while another backend asks for the same stream', async () => {
    const stream = await open();
    await stream.take();
    const { session, sids } = await visitor('relay');
    const waiting = stream.poll();
    const token = await clientToken(server, setup, 'files');
    const path = `/v1/ssf/streams/${stream.id}/poll`;
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await call(server, 'POST', path, { token, body: {} })).status).toBe(404);
    }
    await logOut(session);
    expect(endedIn(await stream.verify(await waiting))).toEqual([sids[0]]);
  });

  it('echoes a requested verification to that stream alone', async () => {
    const [one, two] = [await open(), await open()];
    await Promise.all([one.take(), two.take()]);
    const verify = () =>
      call(server, 'POST', '/v1/ssf/verification', {
        token: one.token,
        body: { stream_id: one.id, state: 'a-state' },
      });
    const begun = performance.now();
    const statuses = (await Promise.all(Array.from({ length: 50 }, verify))).map(
      ({ status }) => status,
    );
    const seconds = Math.ceil((performance.now() - begun) / 1000);
    const accepted = statuses.filter((status) => status === 204).length;
    expect(accepted).toBeGreaterThan(0);
    // One a second: a slow machine needs more than one second for all of them.
    expect(accepted).toBeLessThanOrEqual(seconds);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50 - accepted);
    const events = await one.take();
    expect(events).toHaveLength(accepted);
    const [event] = events;
    expect(event).toMatchObject({
      sub_id: { format: 'opaque', id: one.id },
      events: { [VERIFICATION]: { state: 'a-state' } },
    });
    expect(await two.take()).toEqual([]);
  });

  it('can be read, listed and deleted', async () => {
    const { id, token } = await open();
    const read = (query: string) => call(server, 'GET', `/v1/ssf/streams${query}`, { token });
    const { status, body } = await read(`?stream_id=${id}`);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        stream_id: id,
        aud: 'https://relay.example.com',
        delivery: {
          method: 'urn:ietf:rfc:8936',
          endpoint_url: `https://gate.example.com/v1/ssf/streams/${id}/poll`,
        },
        events_delivered: [SESSION_REVOKED],
        inactivity_timeout: 300,
      },
    });
    expect((await read('')).body).toContainEqual(body);
    const query = `?stream_id=${id}`;
    expect((await call(server, 'GET', `/v1/ssf/status${query}`, { token })).body).toEqual({
      ...{ stream_id: id, status: 'enabled' },
    });
    const removed = await call(server, 'DELETE', `/v1/ssf/streams${query}`, { token });
    expect(removed.status).toBe(204);
    expect((await read(query)).status).toBe(404);
    expect((await call(server, 'DELETE', `/v1/ssf/streams${query}`, { token })).status).toBe(404);
  });

  it('ends a poll that waits when it is deleted', async () => {
    const stream = await open();
    await stream.take();
    const waiting = stream.poll();
    await waitFor('the stream is deleted', async () => {
      const path = `/v1/ssf/streams?stream_id=${stream.id}`;
      return (await call(server, 'DELETE', path, { token: stream.token })).status === 204;
    });
    expect(refusalOf(await waiting)).toMatchObject({ status: 404, code: 'not-found' });
  });

  it.each([
    ['push delivery', { delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://a.b' } }],
    ['other events', { events_requested: ['https://example.com/event'] }],
    ['a description that is no text', { description: 7 }],
    ['a description that is too long', { description: 'x'.repeat(257) }],
  ])('refuses %s', async (_what, body) => {
    const token = await clientToken(server, setup, 'relay');
    const answer = await call(server, 'POST', '/v1/ssf/streams', { token, body });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
  });

  it.each([
    { maxEvents: -1 },
    { maxEvents: '1' },
    { ack: 'x' },
    { ack: [7] },
    { ack: Array.from({ length: 501 }, () => randomUUID()) },
    { setErrs: [] },
    { returnImmediately: 'no' },
  ])('refuses the poll %#', async (body) => {
    expect(refusalOf(await (await open()).poll(body))).toEqual({
      ...{ status: 400, code: 'invalid-request' },
    });
  });

  it('reads null as an absent member, in polls and in new streams', async () => {
    const { token, ...stream } = await open();
    const fields = { delivery: null, events_requested: null, description: null };
    const made = await call(server, 'POST', '/v1/ssf/streams', { token, body: fields });
    expect(made.status).toBe(201);
    const poll = { maxEvents: null, returnImmediately: true, ack: null, setErrs: null };
    const path = `/v1/ssf/streams/${stream.id}/poll`;
    const { status, body } = await call(server, 'POST', path, { token, body: poll });
    expect([status, body]).toMatchObject([200, { moreAvailable: false }]);
  });

  it('ignores acknowledgements of unknown events', async () => {
    const stream = await open();
    const ack = [randomUUID(), 'not-a-uuid', ''];
    expect((await stream.poll({ returnImmediately: true, ack })).status).toBe(200);
  });
});

describe('each route of streams', () => {
  it('refuses forged and foreign tokens, and hides the streams of others', async () => {
    const mine = await open('relay');
    const { session, tokens } = await visitor('relay');
    const path = `?stream_id=${mine.id}`;
    const body = { stream_id: mine.id, status: 'enabled' };
    const routes = [
      ['POST', '/v1/ssf/streams', 'ssf.manage', {}],
      ['GET', `/v1/ssf/streams${path}`, 'ssf.read', undefined],
      ['DELETE', `/v1/ssf/streams${path}`, 'ssf.manage', undefined],
      ['GET', `/v1/ssf/status${path}`, 'ssf.read', undefined],
      ['POST', '/v1/ssf/status', 'ssf.manage', body],
      ['POST', '/v1/ssf/verification', 'ssf.manage', { stream_id: mine.id }],
      ['POST', `/v1/ssf/streams/${mine.id}/poll`, 'ssf.read', { returnImmediately: true }],
    ] as const;
    const [head, , signature] = mine.token.split('.');
    const changed = Buffer.from(
      JSON.stringify({ ...decodeJwt(mine.token), sub: 'client:files', client_id: 'files' }),
    ).toString('base64url');
    const foreign = await clientToken(server, setup, 'files');
    for (const [method, url, scope, sent] of routes) {
      const send = (token?: string) =>
        call(server, method, url, { ...(token && { token }), body: sent });
      expect(refusalOf(await send())).toEqual({ status: 401, code: 'missing-token' });
      for (const token of [session, tokens[0] ?? '', 'x', `${head}.${changed}.${signature}`]) {
        expect(refusalOf(await send(token))).toEqual({ status: 401, code: 'invalid-token' });
      }
      const other = scope === 'ssf.read' ? 'ssf.manage' : 'ssf.read';
      const lesser = await clientToken(server, setup, 'relay', other);
      expect(refusalOf(await send(lesser))).toEqual({ status: 403, code: 'insufficient-scope' });
      const asker = await clientToken(server, setup, 'relay', 'introspect');
      expect(refusalOf(await send(asker))).toEqual({ status: 401, code: 'invalid-token' });
      if (url !== '/v1/ssf/streams') {
        expect(refusalOf(await send(foreign))).toEqual({ status: 404, code: 'not-found' });
      }
    }
    expect((await mine.poll({ returnImmediately: true })).status).toBe(200);
    const theirs = await call(server, 'GET', '/v1/ssf/streams', { token: foreign });
    expect(JSON.stringify(theirs.body)).not.toContain(mine.id);
  });
});
