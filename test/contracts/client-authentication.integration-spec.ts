import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { Runtime } from '../../src/common/runtime/runtime.js';
import { MovedClock } from '../fixtures/moved-clock.js';
import { clientSecretAuth } from '../../src/server/providers/oidc/client-authentication.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { startLocalServer } from '../helpers/local-server.js';
import { CLIENT, FakeOpenIdProvider } from '../fakes/openid-provider.js';
import { Browser, Oidc } from '../fixtures/oidc-provider-fixture.js';
import {
  authorizationRequest,
  DIRECT,
  oidcSettings,
  PATIENT_LIMITS,
  recheckSubject,
  REDIRECT_URI,
} from '../fixtures/provider-settings-fixture.js';

const KEYS = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  unpublished: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
};
type KeyName = keyof typeof KEYS;

let published: readonly object[];

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-keys-'));
const keyServer = await startLocalServer(() => ({ status: 200, json: { keys: published } }));
const op = await Oidc.start([REDIRECT_URI], '--ask', '--jwks-uri', `${keyServer.url}/jwks`);
afterAll(async () => {
  await Promise.all([op.stop(), keyServer.close()]);
  await DIRECT.onApplicationShutdown();
});

const pemOf = (...names: readonly KeyName[]): string =>
  names.map((name) => KEYS[name].export({ type: 'pkcs8', format: 'pem' })).join('');
const kidOf = async (name: KeyName): Promise<string> =>
  calculateJwkThumbprint(await exportJWK(KEYS[name]));

const clock = new MovedClock();

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const clientWith = (given: object): OidcProvider =>
  new OidcProvider(
    oidcSettings(op.issuer, { clientSecret: null, ...given }),
    new Runtime(clock),
    DIRECT,
    PATIENT_LIMITS,
  );

/** Moves the clock to the time at which files are read again. */
function untilFilesAreRead(): void {
  clock.aheadMs += 1000;
}

const verdictOn = async (client: OidcProvider): Promise<unknown> => {
  await op.send({ forgetKeys: true });
  return (await client.diagnose()).find(({ step }) => step === 'client');
};
const ACCEPTED = { severity: 'ok' };
const REFUSED = { severity: 'error', cause: 'invalid_client' };

describe('private_key_jwt', () => {
  it.each(['rsa', 'p256', 'ed25519'] as const)('is accepted with the key %s', async (name) => {
    const client = clientWith({ clientKeyFile: write(`${name}.pem`, pemOf(name)) });
    published = (await client.clientKeys()) ?? [];
    expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    expect(published).toEqual([expect.objectContaining({ kid: await kidOf(name), use: 'sig' })]);
    expect(JSON.stringify(published)).not.toMatch(/"(d|p|q|dp|dq|qi)"/);
  });

  it('is accepted with the token endpoint as audience', async () => {
    const clientKeyFile = write('audience.pem', pemOf('p256'));
    const client = clientWith({ clientKeyFile, clientAssertionAudience: 'tokenEndpoint' });
    published = (await client.clientKeys()) ?? [];
    expect(await verdictOn(client)).toMatchObject(ACCEPTED);
  });

  it('finishes a login', async () => {
    const client = clientWith({ clientKeyFile: write('login.pem', pemOf('p256')) });
    published = (await client.clientKeys()) ?? [];
    const request = authorizationRequest();
    await op.send({ forgetKeys: true });
    const back = await new Browser('ann').visit(
      await client.authorizationUrl(request),
      REDIRECT_URI,
    );
    expect((await client.exchange(back, request)).profile.subject).toBe('ann');
  });

  it('is refused while the key is not published', async () => {
    const client = clientWith({ clientKeyFile: write('hidden.pem', pemOf('unpublished')) });
    published = [];
    expect(await verdictOn(client)).toMatchObject(REFUSED);
  });

  it('is accepted at every moment of a key rotation', async () => {
    const path = write('rotated.pem', pemOf('p256'));
    const client = clientWith({ clientKeyFile: path });
    const step = async (...names: readonly KeyName[]): Promise<void> => {
      writeFileSync(path, pemOf(...names));
      const wanted = (await Promise.all(names.map(kidOf))).join();
      untilFilesAreRead();
      published = (await client.clientKeys()) ?? [];
      expect(published.map((key) => (key as { kid: string }).kid).join()).toBe(wanted);
      expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    };
    await step('p256', 'ed25519');
    await step('ed25519', 'p256');
    await step('ed25519');
    // An unusable key file changes nothing.
    for (const text of ['', 'no key', pemOf('p256').replace('MI', 'AA')]) {
      writeFileSync(path, text);
      untilFilesAreRead();
      expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    }
  });
});

describe('a client secret', () => {
  const BOTH = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

  it.each([
    [undefined, null, 'client_secret_basic'],
    [['client_secret_basic'], null, 'client_secret_basic'],
    [BOTH, null, 'client_secret_post'],
    [['client_secret_post'], null, 'client_secret_post'],
    [['private_key_jwt'], null, 'client_secret_post'],
    [BOTH, 'client_secret_basic', 'client_secret_basic'],
    [undefined, 'client_secret_post', 'client_secret_post'],
  ] as const)(
    'is sent to a provider that lists %j, with the option %j, as %s',
    async (listed, tokenEndpointAuthMethod, expected) => {
      const fake = await FakeOpenIdProvider.start();
      fake.breakage = {
        discovery: (document) => ({
          ...document,
          token_endpoint_auth_methods_supported: listed,
        }),
      };
      const client = new OidcProvider(
        oidcSettings(fake.issuer, { tokenEndpointAuthMethod }),
        new Runtime(clock),
        DIRECT,
        PATIENT_LIMITS,
      );
      expect(await verdictOn(client)).toMatchObject(ACCEPTED);
      expect(fake.authMethods).toEqual([expected]);
      await fake.close();
    },
  );

  it.each(['client_secret_basic', 'client_secret_post'])(
    'is accepted by a provider that lists both methods and registered %s alone',
    async (method) => {
      const fake = await FakeOpenIdProvider.start();
      fake.registeredMethod = method;
      fake.breakage = {
        discovery: (document) => ({ ...document, token_endpoint_auth_methods_supported: BOTH }),
      };
      const client = new OidcProvider(
        oidcSettings(fake.issuer),
        new Runtime(clock),
        DIRECT,
        PATIENT_LIMITS,
      );
      const request = authorizationRequest();
      const back = await fake.authorize(await client.authorizationUrl(request));
      const { credentials } = await client.exchange(back, request);
      expect(fake.authMethods.at(-1)).toBe(method);
      // The method is known from then on.
      fake.authMethods.length = 0;
      const subject = recheckSubject({ subject: 'person-1', credentials });
      const signal = new AbortController().signal;
      expect(await client.recheck(subject, signal)).toMatchObject({ outcome: 'profile' });
      expect(fake.authMethods).toEqual([method]);
      fake.registeredMethod = 'none';
      expect(await verdictOn(client)).toMatchObject(REFUSED);
      await fake.close();
    },
  );

  it('is accepted by a provider that lists both methods and does not decode Basic', async () => {
    const fake = await FakeOpenIdProvider.start();
    fake.decodesBasic = false;
    const settings = oidcSettings(fake.issuer);
    const clientOf = (): OidcProvider =>
      new OidcProvider(settings, new Runtime(clock), DIRECT, PATIENT_LIMITS);
    expect(await verdictOn(clientOf())).toMatchObject(REFUSED);
    fake.breakage = {
      discovery: (document) => ({ ...document, token_endpoint_auth_methods_supported: BOTH }),
    };
    expect(await verdictOn(clientOf())).toMatchObject(ACCEPTED);
    await fake.close();
  });
});

it.each([
  ['gloas-_.0', 'gloas-_.0'],
  ['a b:c%~', 'a+b%3Ac%25%7E'],
])('encodes the client secret %s in Basic credentials as %s, as a form does', (secret, encoded) => {
  const headers = new Headers();
  const authenticate = clientSecretAuth('client_secret_basic', secret);
  authenticate({ issuer: '' }, { client_id: 'my-app' }, new URLSearchParams(), headers);
  const [scheme, credentials = ''] = headers.get('authorization')?.split(' ') ?? [];
  const text = Buffer.from(credentials, 'base64').toString();
  expect([scheme, text]).toEqual(['Basic', `my-app:${encoded}`]);
});

describe('a client secret in a file', () => {
  it('is read again when it changes, and the last valid one is kept while it is missing', async () => {
    const fake = await FakeOpenIdProvider.start();
    const clientSecretFile = write('secret', 'the secret of last year');
    const settings = { clientSecret: 'the secret of last year', clientSecretFile };
    const client = new OidcProvider(
      oidcSettings(fake.issuer, settings),
      new Runtime(clock),
      DIRECT,
      PATIENT_LIMITS,
    );
    expect(await verdictOn(client)).toMatchObject(REFUSED);
    writeFileSync(clientSecretFile, `${CLIENT.secret}\n`);
    untilFilesAreRead();
    expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    rmSync(clientSecretFile);
    untilFilesAreRead();
    expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    await fake.close();
  });
});

describe('a client assertion that another program renews', () => {
  const assertion = async (key: KeyObject): Promise<string> =>
    new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: await kidOf('p256') })
      .setIssuer(CLIENT.id)
      .setSubject(CLIENT.id)
      .setAudience(op.issuer)
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(key);

  it('is read again for each request, as this provider accepts each one once', async () => {
    const holder = clientWith({ clientKeyFile: write('outside.pem', pemOf('p256')) });
    published = (await holder.clientKeys()) ?? [];
    const path = write('token', `${await assertion(KEYS.p256)}\n`);
    const client = clientWith({ clientAssertionFile: path });
    expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    expect(await verdictOn(client)).toMatchObject(REFUSED);
    for (let time = 0; time < 2; time += 1) {
      writeFileSync(path, await assertion(KEYS.p256));
      untilFilesAreRead();
      expect(await verdictOn(client)).toMatchObject(ACCEPTED);
    }
    expect(await client.clientKeys()).toBeNull();
  });
});
