import { randomUUID } from 'node:crypto';
import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompactSign,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type JWTPayload,
} from 'jose';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  backends,
  backendToken,
  basic,
  postForm,
  without,
} from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { startLocalServer, type LocalRequest } from '../../helpers/local-server.js';
import { waitFor } from '../../helpers/wait.js';

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ISSUER = 'https://gate.example.com';
const CLUSTER = 'https://cluster.example';
const SUBJECT = 'system:serviceaccount:apps:files';

async function makeKey(kid: string, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

const relayKey = await makeKey('relay-1');
const nextKey = await makeKey('relay-2');
const edgeKey = await makeKey('edge-1');
const clusterKey = await makeKey('cluster-1');
const strangerKey = await makeKey('relay-1');
const directory = mkdtempSync(join(tmpdir(), 'gatehouse-client-keys-'));
const relayKeys = join(directory, 'relay.json');
const bearerFile = join(directory, 'bearer');
const setRelayKeys = (...keys: readonly object[]) =>
  writeFileSync(relayKeys, JSON.stringify({ keys }));
setRelayKeys(relayKey.jwk);
writeFileSync(bearerFile, 'the-token-of-the-server');

const fetched: LocalRequest[] = [];
const published = { edge: [edgeKey.jwk], cluster: [clusterKey.jwk], isAway: false };
const keyServer = await startLocalServer((request) => {
  fetched.push(request);
  const isCluster = request.url.pathname === '/cluster';
  if (published.isAway) {
    return 'server-error';
  }
  if (isCluster && request.headers['authorization'] !== 'Bearer the-token-of-the-server') {
    return 'unauthorized';
  }
  return { status: 200, json: { keys: isCluster ? published.cluster : published.edge } };
});

const cluster = { issuer: CLUSTER, jwksUri: `${keyServer.url}/cluster`, bearerFile };
const setup = backends([
  { id: 'relay', client: { jwksFile: relayKeys } },
  { id: 'edge', client: { jwksUri: `${keyServer.url}/edge` } },
  { id: 'files', client: { kubernetes: { ...cluster, subject: SUBJECT } } },
  { id: 'archive', client: { kubernetes: { ...cluster, subject: SUBJECT } } },
  { id: 'plain' },
]);
const server = await startServer({ env: setup.env });
afterAll(async () => {
  await server.stop();
  await keyServer.close();
});

type Key = Awaited<ReturnType<typeof makeKey>>;

const seconds = (): number => Math.floor(Date.now() / 1000);

function sign(claims: JWTPayload, { kid, alg, privateKey }: Key, header: object = {}) {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

const claimsOf = (id: string): JWTPayload => ({
  ...{ iss: id, sub: id, aud: ISSUER, jti: randomUUID() },
  ...{ iat: seconds(), exp: seconds() + 300 },
});

const serviceAccount = (): JWTPayload => ({
  ...{ iss: CLUSTER, sub: SUBJECT, aud: [ISSUER] },
  ...{ iat: seconds(), exp: seconds() + 3600 },
});

const introspect = (
  assertion: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
) =>
  postForm(
    server,
    '/v1/oauth/introspect',
    { token: 'x', client_assertion_type: ASSERTION, client_assertion: assertion, ...fields },
    headers,
  );

const REFUSED = { status: 401, code: 'invalid-client' };

describe('private_key_jwt', () => {
  it('authenticates the backend for its own tokens alone', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const own = await backendToken(server, session, 'relay');
    const foreign = await backendToken(server, session, 'edge');
    const assertion = await sign(claimsOf('relay'), relayKey);
    const { status, body } = await introspect(assertion, { token: own });
    expect([status, body['active']]).toEqual([200, true]);
    const next = await sign(claimsOf('relay'), relayKey);
    expect((await introspect(next, { token: foreign })).body).toEqual({ active: false });
  });

  it('accepts one of 50 simultaneous uses, and stores no assertion', async () => {
    const claims = claimsOf('relay');
    const assertion = await sign(claims, relayKey);
    const answers = await Promise.all(Array.from({ length: 50 }, () => introspect(assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49);
    // The same id in another assertion is a replay, too.
    expect(refusalOf(await introspect(await sign(claims, relayKey)))).toMatchObject(REFUSED);
    await server.logged(/it was used before/);
    expect(server.logs()).not.toContain(assertion.split('.')[2]);
    expect(server.logs().split('it was used before')).toHaveLength(2);
    const rows = await runSql(
      server.databaseUrl,
      'SELECT max(expires_at) < now() + interval \'11 minutes\' AS "isBounded" FROM client_assertion',
    );
    expect(rows).toEqual([{ isBounded: true }]);
  });

  it('keeps the ids of backends apart', async () => {
    const jti = randomUUID();
    expect((await introspect(await sign({ ...claimsOf('relay'), jti }, relayKey))).status).toBe(
      200,
    );
    expect((await introspect(await sign({ ...claimsOf('edge'), jti }, edgeKey))).status).toBe(200);
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['another audience', (claims) => ({ ...claims, aud: 'https://other.example' })],
    ['another subject', (claims) => ({ ...claims, sub: 'edge' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'edge' })],
    ['the name of another backend', (claims) => ({ ...claims, iss: 'edge', sub: 'edge' })],
    ['the name of a backend with a secret', (c) => ({ ...c, iss: 'plain', sub: 'plain' })],
    ['the name of no backend', (claims) => ({ ...claims, iss: 'nobody', sub: 'nobody' })],
    ['no end', (claims) => without(claims, 'exp')],
  ])('refuses %s', async (_what, change) => {
    const answer = await introspect(await sign(change(claimsOf('relay')), relayKey));
    expect(refusalOf(answer)).toMatchObject(REFUSED);
    expect(answer.body).toMatchObject({ error: 'invalid_client' });
  });

  it('refuses forged signatures', async () => {
    const claims = claimsOf('relay');
    const genuine = await sign(claims, relayKey);
    const secret = new TextEncoder().encode(JSON.stringify(relayKey.jwk));
    const [head = '', payload = ''] = genuine.split('.');
    const forged = [
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'relay-1' }).sign(secret),
      await sign(claims, strangerKey),
      await sign(claims, { ...strangerKey, kid: 'unknown' }),
      await sign(claims, strangerKey, { jwk: strangerKey.jwk }),
      await sign(claims, relayKey, { typ: 'at+jwt' }),
      `${head}.${payload}.`,
      `${head}.${payload}`,
      'x',
    ];
    for (const assertion of forged) {
      expect(refusalOf(await introspect(assertion))).toMatchObject(REFUSED);
    }
    // None of them used up the id.
    expect((await introspect(genuine)).status).toBe(200);
  });

  it('refuses an assertion that repeats a name', async () => {
    const text = JSON.stringify(claimsOf('relay')).replace('{', `{"aud":"https://other.example",`);
    const assertion = await new CompactSign(Buffer.from(text))
      .setProtectedHeader({ alg: relayKey.alg, kid: relayKey.kid })
      .sign(relayKey.privateKey);
    expect(refusalOf(await introspect(assertion))).toMatchObject(REFUSED);
  });

  it('refuses another type of assertion, half of one, and two methods', async () => {
    const assertion = await sign(claimsOf('relay'), relayKey);
    const refused = [
      await introspect(assertion, { client_assertion_type: 'jwt' }),
      await postForm(server, '/v1/oauth/introspect', { token: 'x', client_assertion: assertion }),
      await introspect(assertion, {}, basic('plain', setup.secretOf('plain'))),
    ];
    for (const answer of refused) {
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'invalid-request' });
    }
    const other = await introspect(assertion, { client_id: 'edge' });
    expect(refusalOf(other)).toMatchObject(REFUSED);
    expect((await introspect(assertion, { client_id: 'relay' })).status).toBe(200);
  });

  it('refuses the secret of a backend that has keys, and the backend without any', async () => {
    for (const headers of [basic('relay', 'relay'), basic('relay', ''), {}]) {
      const answer = await postForm(server, '/v1/oauth/introspect', { token: 'x' }, headers);
      expect(refusalOf(answer)).toMatchObject(REFUSED);
    }
  });

  it('follows a change of its key file without a restart', async () => {
    setRelayKeys(relayKey.jwk, nextKey.jwk);
    await waitFor('the next key is accepted', async () => {
      const { status } = await introspect(await sign(claimsOf('relay'), nextKey));
      return status === 200;
    });
    setRelayKeys(nextKey.jwk);
    await waitFor('the old key is refused', async () => {
      const { status } = await introspect(await sign(claimsOf('relay'), relayKey));
      return status === 401;
    });
    setRelayKeys(relayKey.jwk, nextKey.jwk);
    await waitFor('the old key is accepted again', async () => {
      const { status } = await introspect(await sign(claimsOf('relay'), relayKey));
      return status === 200;
    });
  });

  it('fetches keys again for an unknown key id, and few times for invented ones', async () => {
    expect((await introspect(await sign(claimsOf('edge'), edgeKey))).status).toBe(200);
    const rotated = await makeKey('edge-2');
    published.edge = [edgeKey.jwk, rotated.jwk];
    expect((await introspect(await sign(claimsOf('edge'), rotated))).status).toBe(200);
    const before = fetched.length;
    const refused = [];
    for (let count = 0; count < 30; count += 1) {
      const invented = await sign(claimsOf('edge'), { ...strangerKey, kid: `x-${count}` });
      refused.push(refusalOf(await introspect(invented)));
    }
    // Keys that were not read again may lack the new key of an honest client.
    expect(refused[0]).toMatchObject(REFUSED);
    expect(refused.at(-1)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(fetched.length - before).toBeLessThan(15);
  });

  it('causes no request for keys by the claims of a stranger', async () => {
    const before = fetched.length;
    const stale = { ...claimsOf('edge'), iat: seconds() - 900, exp: seconds() - 600 };
    for (const claims of [{ ...claimsOf('edge'), aud: 'https://a.example' }, stale]) {
      const invented = await sign(claims, { ...strangerKey, kid: randomUUID() });
      expect(refusalOf(await introspect(invented))).toMatchObject(REFUSED);
    }
    expect(fetched).toHaveLength(before);
  });
});

describe('the token of a Kubernetes service account', () => {
  it('authenticates again and again, and names one of several backends by client_id', async () => {
    const token = await sign(serviceAccount(), clusterKey);
    expect(refusalOf(await introspect(token))).toMatchObject(REFUSED);
    for (const id of ['files', 'archive', 'files']) {
      expect((await introspect(token, { client_id: id })).status).toBe(200);
    }
    const session = await tokenOf(server, makeDeviceKey());
    const own = await backendToken(server, session, 'archive');
    const active = async (client_id: string) =>
      (await introspect(token, { client_id, token: own })).body['active'];
    expect([await active('archive'), await active('files')]).toEqual([true, false]);
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['the audience of the cluster', (claims) => ({ ...claims, aud: [CLUSTER] })],
    ['another service account', (c) => ({ ...c, sub: 'system:serviceaccount:apps:other' })],
    ['another cluster', (claims) => ({ ...claims, iss: 'https://other.example' })],
    ['the name of a backend', (claims) => ({ ...claims, iss: 'files', sub: 'files' })],
  ])('is refused with %s', async (_what, change) => {
    const token = await sign(change(serviceAccount()), clusterKey);
    expect(refusalOf(await introspect(token, { client_id: 'files' }))).toMatchObject(REFUSED);
  });

  it('is refused with the key of a backend', async () => {
    const token = await sign(serviceAccount(), { ...relayKey, kid: 'cluster-1' });
    expect(refusalOf(await introspect(token, { client_id: 'files' }))).toMatchObject(REFUSED);
  });
});

it('names the methods in its metadata', async () => {
  const { body } = await call(server, 'GET', '/.well-known/oauth-authorization-server');
  expect(body).toMatchObject({
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
    introspection_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256']),
  });
});

it('answers 503 while the keys cannot be fetched, and recovers without a restart', async () => {
  const fresh = await startServer({ env: setup.env });
  const ask = async () =>
    postForm(fresh, '/v1/oauth/introspect', {
      ...{ token: 'x', client_assertion_type: ASSERTION },
      client_assertion: await sign(claimsOf('edge'), edgeKey),
    });
  try {
    published.isAway = true;
    const answer = await ask();
    expect(refusalOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.body).toMatchObject({ error: 'temporarily_unavailable' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    published.isAway = false;
    await waitFor('the keys are fetched', async () => (await ask()).status === 200);
  } finally {
    published.isAway = false;
    await fresh.stop();
  }
});
