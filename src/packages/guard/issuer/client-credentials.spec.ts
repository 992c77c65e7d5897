import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { Random } from '../../../common/runtime/random.js';
import { Timers } from '../../../common/runtime/timers.js';
import type { GuardClient } from '../guard-options.js';
import { ClientCredentials } from './client-credentials.js';

const ISSUER = 'https://gate.example.com';

describe(ClientCredentials.name, () => {
  const clock = new ManualClock(Date.UTC(2026, 9, 1));
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gatehouse-client-'));
  });

  const fileOf = (text: string | Buffer): string => {
    const path = join(directory, 'file');
    writeFileSync(path, text);
    return path;
  };
  const credentials = (client: GuardClient): ClientCredentials =>
    new ClientCredentials(
      { client, issuer: ISSUER },
      { clock, timers: new Timers(), random: new Random() },
    );

  it('encodes id and secret (RFC 6749, 2.3.1)', async () => {
    const { headers, form } = await credentials({ id: 'a:b', secret: 'c d+' }).prove();
    const expected = Buffer.from('a%3Ab:c%20d%2B').toString('base64');
    expect([headers, form]).toEqual([{ authorization: `Basic ${expected}` }, {}]);
  });

  it('reads the first line of the secret file for each request', async () => {
    const client = credentials({ id: 'relay', secretFile: fileOf('one\ntwo\n') });
    const secretOf = async (): Promise<string> => {
      const { authorization = '' } = (await client.prove()).headers;
      return Buffer.from(authorization.slice(6), 'base64').toString();
    };
    expect(await secretOf()).toBe('relay:one');
    fileOf('three\n');
    expect(await secretOf()).toBe('relay:three');
    fileOf(' four\r\nfive');
    expect(await secretOf()).toBe('relay:four');
  });

  it('signs an assertion for each request (RFC 7523)', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k1' };
    const client = credentials({ id: 'relay', privateKeyFile: fileOf(JSON.stringify(jwk)) });
    const [one, other] = await Promise.all([client.prove(), client.prove()]);
    expect(one.headers).toEqual({});
    expect(one.form).toMatchObject({
      client_id: 'relay',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
    const { payload, protectedHeader } = await jwtVerify(
      one.form['client_assertion'] ?? '',
      publicKey,
      { currentDate: new Date(clock.now()), issuer: 'relay', subject: 'relay', audience: ISSUER },
    );
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'k1' });
    expect(payload.exp).toBe(clock.now() / 1000 + 60);
    // A clock that is ahead would make it one that is not valid yet.
    expect(payload).not.toHaveProperty('iat');
    expect(one.form['client_assertion']).not.toBe(other.form['client_assertion']);
  });

  it('sends the assertion of a file', async () => {
    const client = credentials({ id: 'relay', assertionFile: fileOf('a.b.c\n') });
    expect((await client.prove()).form).toMatchObject({ client_assertion: 'a.b.c' });
  });

  it('names neither the content nor the path of a file that cannot be used', async () => {
    const invalid = credentials({ id: 'relay', privateKeyFile: fileOf('{"k":"secret"}') });
    await expect(invalid.prove()).rejects.toThrow(/^the private key of the client is not a JWK/);
    const missing = credentials({ id: 'relay', secretFile: join(directory, 'none') });
    await expect(missing.prove()).rejects.toThrow(/cannot be read: ENOENT$/);
    const wide = credentials({ id: 'relay', secretFile: fileOf(Buffer.from('one', 'utf16le')) });
    await expect(wide.prove()).rejects.toThrow(/secret is encoded as UTF-16; save it as UTF-8$/);
  });
});
