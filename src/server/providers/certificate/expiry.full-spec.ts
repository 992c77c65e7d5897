import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../../../test/fixtures/certificates-fixture.js';
import { oidcSettings } from '../../../../test/fixtures/provider-settings-fixture.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { readExpiries } from './expiry.js';

const nextTurn = (): Promise<void> => Promise.resolve();
const END = Date.UTC(2031, 4, 6, 7, 8, 9);

const jwt = (claims: object): string =>
  ['{}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

let directory: string;
let ca: TestAuthority;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gatehouse-expiry-'));
  ca = TestAuthority.root(directory, 'Root');
});

const write = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

describe(readExpiries.name, () => {
  it('reads the end of every certificate and list that a variable names', async () => {
    const leaf = ca.issue({ subject: '/CN=gate.example', until: '20310506070809Z' });
    const tls = 'SERVICE_FEATURE_AUTH_MTLS__';
    const { settings } = resolveSettings({
      [`${tls}ENABLED`]: '1',
      [`${tls}MODE`]: 'direct',
      [`${tls}TLS_PORT`]: '8443',
      [`${tls}TLS_CERT_PATH`]: write('chain.pem', `${leaf.cert}${ca.cert}`),
      [`${tls}TLS_KEY_PATH`]: leaf.keyPath,
      [`${tls}CA_PATH`]: ca.certPath,
      [`${tls}CRL_PATH`]: write('list.pem', ca.revocationList()),
      ADMIN_PORT: '9000',
      ADMIN_TLS_CERT_PATH: leaf.certPath,
      ADMIN_TLS_KEY_PATH: leaf.keyPath,
      ADMIN_TLS_CLIENT_CA_PATH: ca.certPath,
      SERVICE_CA_BUNDLE: ca.certPath,
    });
    const found = await readExpiries(settings, nextTurn);
    expect(found.map(({ variable, kind, name }) => `${variable} ${kind} ${name}`)).toEqual([
      'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH certificate gate.example',
      'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH certificate Root',
      'SERVICE_FEATURE_AUTH_MTLS__CA_PATH authority Root',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_PATH revocation_list Root',
      'ADMIN_TLS_CERT_PATH certificate gate.example',
      'ADMIN_TLS_CLIENT_CA_PATH authority Root',
      'SERVICE_CA_BUNDLE authority Root',
    ]);
    expect(found[0]?.expiresAt).toBe(END);
    expect(found[3]).toMatchObject({
      startsAt: expect.any(Number) as number,
      expiresAt: expect.any(Number) as number,
    });
  });

  it('reads the end of client secrets that a date or the secret itself gives', async () => {
    const { settings } = resolveSettings({});
    const file = write('secret', `${jwt({ exp: END / 1000 })}\n`);
    const providers = [
      oidcSettings('https://a.example', { id: 'dated', clientSecretExpiresAt: END }),
      oidcSettings('https://b.example', { id: 'signed', clientSecret: jwt({ exp: END / 1000 }) }),
      oidcSettings('https://c.example', { id: 'file', clientSecretFile: file }),
      oidcSettings('https://d.example', { id: 'plain', clientSecret: 'no.end.known' }),
    ];
    const found = await readExpiries({ ...settings, providers }, nextTurn);
    expect(found.map(({ name, expiresAt }) => [name, expiresAt])).toEqual([
      ['dated', END],
      ['signed', END],
      ['file', END],
    ]);
  });

  it('leaves out files that cannot be read', async () => {
    const { settings } = resolveSettings({});
    const mtls = { ...settings.mtls, enabled: true, caPath: join(directory, 'none.pem') };
    expect(await readExpiries({ ...settings, mtls }, nextTurn)).toEqual([]);
  });
});
