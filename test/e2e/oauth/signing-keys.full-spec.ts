import {
  CompactSign,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  SignJWT,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
} from 'jose';
import { Client } from 'pg';
import { Random } from '../../../src/common/runtime/random.js';
import { MasterKeys } from '../../../src/server/storage/sealing/master-keys.js';
import { SealedBoxService } from '../../../src/server/storage/sealing/sealed-box.service.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import {
  backends,
  backendToken,
  basic,
  postForm,
  resourceOf,
  without,
} from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const REDIS_URL = `${process.env['TEST_REDIS_URL']}/${process.env['JEST_WORKER_ID']}`;
const setup = backends([{ id: 'relay' }, { id: 'files', tokenAlg: 'RS256' }]);
const redis = { ...setup.env, REDIS_URL };

const store = await createStore();
const user = await createCliUser();
const first = await startServer({ store, env: redis });
const second = await startServer({ store, env: redis });
// Without Redis a replica finds a rotation by itself.
const servers = [first, second, await startServer({ store, env: setup.env })];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await store.drop();
});

const rotate = (...args: string[]) =>
  user.run(['keys', 'rotate', '--reason', 'ticket 7', '--actor', 'Ann', ...args], {
    ...redis,
    ...store.env,
  });

const keySet = async (server: Server): Promise<readonly JWK[]> =>
  (await call<JSONWebKeySet>(server, 'GET', '/v1/oauth/jwks')).body.keys;

const kids = async (server: Server) => (await keySet(server)).map(({ kid }) => kid).sort();

async function isAccepted(server: Server, token: string, id = 'relay'): Promise<boolean[]> {
  const headers = basic(id, setup.secretOf(id));
  const { body } = await postForm(server, '/v1/oauth/introspect', { token }, headers);
  const forward = await call(server, 'GET', `/v1/oauth/forward-auth/${id}`, { token });
  return [body['active'] === true, forward.status === 200];
}

async function inDatabase<Row extends object>(sql: string, values: unknown[] = []) {
  const database = new Client(store.databaseUrl ?? '');
  await database.connect();
  const { rows } = await database.query<Row>(sql, values);
  await database.end();
  return rows;
}

it('publishes the next keys a day before they sign, once for simultaneous commands', async () => {
  const [first] = servers as [Server];
  const session = await tokenOf(first, makeDeviceKey());
  const token = await backendToken(first, session, 'relay');
  const before = await kids(first);
  const results = await Promise.all([rotate(), rotate(), rotate()]);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']));
  const made = results.filter(({ stdout }) => stdout.includes('They sign from'));
  expect(made.length).toBeGreaterThan(0);
  for (const server of servers) {
    await waitFor('two more keys', async () => (await kids(server)).length === 4);
    expect(await kids(server)).toEqual(expect.arrayContaining(before));
    expect(await isAccepted(server, token)).toEqual([true, true]);
  }
  const next = await backendToken(first, session, 'relay');
  expect(decodeProtectedHeader(next).kid).toBe(decodeProtectedHeader(token).kid);
  expect((await rotate()).stdout).toContain('New keys were published before');
});

it('revokes the keys of before at every replica with --now, without a restart', async () => {
  const [first] = servers as [Server];
  const session = await tokenOf(first, makeDeviceKey());
  const tokens = {
    relay: await backendToken(first, session, 'relay'),
    files: await backendToken(first, session, 'files'),
  };
  const before = await kids(first);
  for (const server of servers) {
    expect(await isAccepted(server, tokens.relay)).toEqual([true, true]);
  }
  const { code, stdout } = await rotate('--now');
  expect(code).toBe(0);
  expect(stdout).toContain('They sign now.');
  expect(stdout).toContain('Running servers were notified');
  await waitFor('the old keys are gone', async () => (await kids(first)).length === 2);
  const newest = await backendToken(first, session, 'relay');
  for (const server of servers) {
    expect(await isAccepted(server, newest)).toEqual([true, true]);
  }
  for (const server of servers) {
    await waitFor('the old keys are gone', async () => (await kids(server)).length === 2);
    const left = await kids(server);
    expect(left.filter((kid) => before.includes(kid))).toEqual([]);
    expect(await isAccepted(server, tokens.relay)).toEqual([false, false]);
    expect(await isAccepted(server, tokens.files, 'files')).toEqual([false, false]);
    const fresh = await backendToken(server, session, 'relay');
    expect(await isAccepted(server, fresh)).toEqual([true, true]);
  }
  const events = await inDatabase(
    `SELECT actor, reason FROM audit_event WHERE kind = 'signing-keys-rotated'`,
  );
  expect(events.at(-1)).toEqual({ actor: 'Ann', reason: 'ticket 7' });
});

it('refuses another master secret and a missing reason, and changes nothing', async () => {
  const [first] = servers as [Server];
  const before = await kids(first);
  const other = { SERVICE_MASTER_SECRET: 'another-master-secret-of-enough-bytes-0123456789' };
  const args = ['keys', 'rotate', '--now', '--reason', 'theft', '--json'];
  const refused = await user.run(args, { ...redis, ...store.env, ...other });
  expect(refused.code).toBe(78);
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'wrong-secret' } });
  const unexplained = await user.run(['keys', 'rotate', '--now'], { ...redis, ...store.env });
  expect(unexplained.code).toBe(2);
  expect(await kids(first)).toEqual(before);
});

it('makes nothing where no backend was ever configured', async () => {
  const empty = await createStore();
  const args = ['keys', 'rotate', '--reason', 'ticket 7', '--json'];
  const { code, stderr } = await user.run(args, empty.env);
  await empty.drop();
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'not-found' } });
});

describe('a token that the genuine key signed', () => {
  let genuine: string;
  let key: CryptoKey;
  const sign = (claims: JWTPayload, header: object = {}, by = key): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ ...(decodeProtectedHeader(genuine) as { alg: string }), ...header })
      .sign(by);

  beforeAll(async () => {
    const [first] = servers as [Server];
    genuine = await backendToken(first, await tokenOf(first, makeDeviceKey()), 'relay');
    const { kid = '' } = decodeProtectedHeader(genuine);
    const [row] = await inDatabase<{ private_key: Buffer }>(
      'SELECT private_key FROM signing_key WHERE kid = $1',
      [kid],
    );
    const secret = store.env['SERVICE_MASTER_SECRET'] ?? '';
    const box = new SealedBoxService(new MasterKeys(secret, []), new Random());
    const jwk = box.open('signing-key', kid, row?.private_key ?? Buffer.alloc(0));
    key = (await importJWK(JSON.parse(jwk) as JWK, 'ES256')) as CryptoKey;
  });

  it('is accepted with the claims that the server gives it', async () => {
    expect(await isAccepted((servers as [Server])[0], await sign(decodeJwt(genuine)))).toEqual([
      true,
      true,
    ]);
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload, object?]>([
    ['has expired', (c) => ({ ...c, iat: (c.iat ?? 0) - 999, exp: (c.iat ?? 0) - 600 })],
    ['is not valid yet', (c) => ({ ...c, nbf: (c.exp ?? 0) + 60 })],
    ['has another issuer', (c) => ({ ...c, iss: 'https://other.example.com' })],
    ['has a slash after its issuer', (c) => ({ ...c, iss: `${c.iss}/` })],
    ['has another audience', (c) => ({ ...c, aud: 'https://other.example.com' })],
    ['has the audience of another entry', (c) => ({ ...c, aud: resourceOf('files') })],
    ['has two audiences', (c) => ({ ...c, aud: [resourceOf('relay'), resourceOf('files')] })],
    ['has no audience', (claims) => without(claims, 'aud')],
    ['has another account', (c) => ({ ...c, sub: '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c' })],
    ['has another session', (c) => ({ ...c, sid: '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c' })],
    ['has no session', (claims) => without(claims, 'sid')],
    ['has a session that is no id', (c) => ({ ...c, sid: "' OR true --" })],
    ['has no client', (claims) => without(claims, 'client_id')],
    ['has an empty client', (c) => ({ ...c, client_id: '' })],
    ['has a list of clients', (c) => ({ ...c, client_id: ['gatehouse'] })],
    ['has no end', (claims) => without(claims, 'exp')],
    ['is of no type', (c) => c, { typ: undefined }],
    ['is a security event', (c) => c, { typ: 'secevent+jwt' }],
    ['is a plain JWT', (c) => c, { typ: 'JWT' }],
    ['has no key id', (c) => c, { kid: undefined }],
    ['has another key id', (c) => c, { kid: 'x' }],
    ['needs an extension', (c) => c, { crit: ['exp'], exp: 1 }],
  ])('is refused where it %s', async (_what, change, header = {}) => {
    const claims = decodeJwt(genuine);
    const text = await signAny(change(claims), header);
    expect(await isAccepted((servers as [Server])[0], text)).toEqual([false, false]);
  });

  it.each([
    ['a program', { client_id: 'editor', scope: 'notes:read' }],
    ['a program without a scope', { client_id: 'editor' }],
    ['a client in upper case', { client_id: 'GATEHOUSE' }],
  ])('is no token of %s, which was never granted', async (_what, changed) => {
    const [first] = servers as [Server];
    const token = await signAny({ ...decodeJwt(genuine), ...changed }, {});
    expect(await isAccepted(first, token)).toEqual([false, false]);
  });

  it('is refused at a proxy where it has a scope', async () => {
    const [first] = servers as [Server];
    const token = await signAny({ ...decodeJwt(genuine), scope: 'notes:read' }, {});
    const forward = await call(first, 'GET', '/v1/oauth/forward-auth/relay', { token });
    expect(refusalOf(forward)).toMatchObject({ status: 403, code: 'insufficient-scope' });
  });

  it.each(['sub', 'sid', 'aud', 'exp'])('is refused where it repeats %s', async (name) => {
    const text = JSON.stringify(decodeJwt(genuine));
    const token = await signText(text.replace('{', `{"${name}":"x",`));
    expect(await isAccepted((servers as [Server])[0], token)).toEqual([false, false]);
  });

  const signAny = (claims: JWTPayload, header: object): Promise<string> =>
    signText(JSON.stringify(claims), header);

  /** Signs headers and claims too that SignJWT refuses to write. */
  async function signText(claims: string, header: object = {}): Promise<string> {
    const bytes = new TextEncoder().encode(claims);
    const all = { ...(decodeProtectedHeader(genuine) as { alg: string }), ...header };
    return new CompactSign(bytes).setProtectedHeader(all).sign(key, { crit: { exp: true } });
  }
});

it('does not become ready with a signing key that does not open, and says so', async () => {
  const own = await createStore();
  const first = await startServer({ store: own, env: setup.env });
  await first.kill('SIGTERM');
  const database = new Client(own.databaseUrl ?? '');
  await database.connect();
  const flip = `UPDATE signing_key SET private_key =
    set_byte(private_key, length(private_key) - 1, get_byte(private_key, length(private_key) - 1) # 1)
    WHERE alg = 'ES256'`;
  await database.query(flip);
  const server = await startServer({ store: own, env: setup.env, untilReady: false });
  await server.logged(/a stored signing key does not open/);
  await waitFor('the state is reported', async () => {
    const { status, body } = await call(server, 'GET', '/readyz');
    const dependencies = body['dependencies'] as Record<string, string> | undefined;
    return status === 503 && dependencies?.['database'] === 'wrong-secret';
  });
  expect((await call(server, 'GET', '/v1/oauth/jwks')).status).toBe(503);
  await database.query(flip);
  await database.end();
  await waitFor('the server is ready', async () => {
    return (await call(server, 'GET', '/readyz')).status === 200;
  });
  await server.stop();
  await own.drop();
});
