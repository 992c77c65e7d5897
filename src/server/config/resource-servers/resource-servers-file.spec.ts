import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { ConfigurationReport } from '../environment/configuration-error.js';
import { resolveSettings } from '../resolve-settings.js';
import { readResourceServers, type ResourceServerContext } from './resource-servers-file.js';

const CONTEXT = {
  providerIds: ['okta'],
  publicUrl: 'https://gate.example.com',
  hostsAccountPage: true,
  programs: [],
};

describe(readResourceServers.name, () => {
  let directory: string;
  let secretFile: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gatehouse-resource-servers-'));
    secretFile = join(directory, 'secret');
    writeFileSync(secretFile, 'a-client-secret-of-the-relay\n');
  });

  const entry = (changed: object = {}) => ({
    ...{ id: 'relay', resource: 'https://relay.example.com', client: { secretFile } },
    ...changed,
  });

  function read(entries: unknown, context: ResourceServerContext = CONTEXT) {
    const report = new ConfigurationReport();
    const values = {
      AUTH_RESOURCE_SERVERS_CONFIG_PATH: null,
      AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify(entries),
    };
    const servers = readResourceServers(values, context, report);
    const problems = report.problems.map(({ variable, message }) => `${variable} ${message}`);
    return { servers, problems };
  }

  it('gives an entry its defaults', () => {
    expect(read([entry()])).toEqual({
      problems: [],
      servers: [
        {
          ...{ id: 'relay', name: 'relay', resource: 'https://relay.example.com' },
          ...{ requireProviders: [], allowKeyless: true, claims: [] },
          ...{ maxTokenSeconds: 300, tokenAlg: 'ES256', programs: null },
          client: { method: 'secret', secretFile, secrets: ['a-client-secret-of-the-relay'] },
        },
      ],
    });
  });

  it.each([
    'https://relay.example.com/path',
    'https://relay.example.com:8443',
    'http://127.0.0.1:3000',
    'http://localhost:3000/relay',
  ])('accepts the resource %s', (resource) => {
    expect(read([entry({ resource })]).problems).toEqual([]);
  });

  it.each([
    'http://relay.example.com',
    'https://relay.example.com/',
    'https://relay.example.com?x',
    'https://relay.example.com#x',
    'https://user@relay.example.com',
    'https://RELAY.example.com',
    'ftp://relay.example.com',
    'relay',
    7,
  ])('refuses the resource %s', (resource) => {
    const { problems, servers } = read([entry({ resource })]);
    expect(servers).toEqual([]);
    expect(problems.join('\n')).toContain('[0].resource must be an https address');
  });

  it.each([
    [{ id: 'Relay' }, '.id'],
    [{ maxTokenSeconds: 59 }, '.maxTokenSeconds'],
    [{ maxTokenSeconds: 901 }, '.maxTokenSeconds'],
    [{ tokenAlg: 'HS256' }, '.tokenAlg'],
    [{ claims: ['name'] }, '.claims'],
    [{ client: {} }, '.client must have exactly one of secretFile, jwksFile, jwksUri, kubernetes'],
    [{ client: { secretFile: '/none' } }, '.client.secretFile'],
    [{ requireProviders: ['entra'] }, '.requireProviders names entra'],
    [{ resource: 'https://gate.example.com/relay' }, '.resource must not have the origin'],
    [{ allowKeyles: true }, 'did you mean allowKeyless?'],
  ])('refuses %j', (changed, problem) => {
    expect(read([entry(changed)]).problems.join('\n')).toContain(problem);
  });

  it('reads the example of the repository, with its secrets next to it', () => {
    const example = new URL('../../../../config/resource-servers.example.json', import.meta.url);
    const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';
    const path = join(directory, 'resource-servers.json');
    writeFileSync(path, readFileSync(example, 'utf8').replaceAll(mounted, directory));
    for (const id of ['relay', 'wiki', 'thumbnails', 'notes']) {
      writeFileSync(join(directory, `${id}-client-secret.txt`), `a-client-secret-of-${id}\n`);
    }
    writeFileSync(join(directory, 'ca.crt'), rootCertificates[0] ?? '');
    writeFileSync(join(directory, 'token'), 'a.b.c\n');
    const okta = {
      ...{ id: 'okta', type: 'oidc', issuer: 'https://acme.okta.com', storeRefreshToken: true },
      ...{ clientId: 'gate', clientSecret: 'a-secret', scopes: ['openid', 'offline_access'] },
      allow: { groupsAny: ['engineering'] },
    };
    const { settings, findings } = resolveSettings({
      SERVICE_PUBLIC_URL: 'http://localhost:3000',
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([okta]),
      AUTH_RESOURCE_SERVERS_CONFIG_PATH: path,
    });
    expect(settings.resourceServers.map(({ id, client }) => [id, client.method])).toEqual([
      ['relay', 'secret'],
      ['wiki', 'secret'],
      ['thumbnails', 'secret'],
      ['files', 'private-key'],
      ['archive', 'kubernetes'],
      ['notes', 'secret'],
    ]);
    expect(findings.filter(({ severity }) => severity !== 'notice')).toEqual([]);
  });

  it('refuses two entries of one id or one address', () => {
    const { problems } = read([entry(), entry({ resource: 'https://b.example.com' })]);
    expect(problems.join('\n')).toContain('[1].id is the id of another entry.');
    expect(read([entry(), entry({ id: 'b' })]).problems.join('\n')).toContain(
      '[1].resource is the address of another entry.',
    );
  });

  it('needs the address of this server', () => {
    const { problems } = read([entry()], { ...CONTEXT, publicUrl: null });
    expect(problems.join('\n')).toContain('SERVICE_PUBLIC_URL is missing');
  });

  it.each([
    ['an empty file', ''],
    [
      'three secrets',
      'a-secret-that-is-long-1\na-secret-that-is-long-2\na-secret-that-is-long-3\n',
    ],
    ['a short secret', 'short\n'],
  ])('refuses %s', (_what, text) => {
    writeFileSync(secretFile, text);
    expect(read([entry()]).problems.join('\n')).toContain('.client.secretFile names a file that');
  });

  describe('the keys of a client', () => {
    const KEY = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: '1' };
    const CLUSTER = {
      issuer: 'https://kubernetes.default.svc',
      subject: 'system:serviceaccount:apps:relay',
    };
    const write = (name: string, content: unknown): string => {
      const path = join(directory, name);
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      return path;
    };

    it('reads the keys of a client from a file', () => {
      const jwksFile = write('keys.json', { keys: [KEY] });
      const keys = { jwksFile, keySet: { keys: [KEY] } };
      expect(read([entry({ client: { jwksFile } })])).toMatchObject({
        problems: [],
        servers: [{ client: { method: 'private-key', keys } }],
      });
      const kubernetes = { ...CLUSTER, jwksFile };
      expect(read([entry({ client: { kubernetes } })])).toMatchObject({
        problems: [],
        servers: [{ client: { method: 'kubernetes', ...CLUSTER, keys } }],
      });
    });

    it('accepts the address of keys, with the authorities and the token that it needs', () => {
      const jwksUri = 'https://kubernetes.default.svc/openid/v1/jwks';
      const bearerFile = write('token', 'a.b.c\n');
      const { problems, servers } = read([
        entry({ client: { kubernetes: { ...CLUSTER, jwksUri, bearerFile } } }),
      ]);
      expect(problems).toEqual([]);
      expect(servers[0]?.client).toMatchObject({
        keys: { jwksUri, caFile: null, ca: null, bearerFile, bearer: 'a.b.c' },
      });
    });

    it.each([
      ['no JWK set', 'keys', 'is not a JWK set'],
      ['a set without keys', { keys: [] }, 'is not a JWK set'],
      ['a private key', { keys: [{ ...KEY, d: 'd' }] }, 'has a private or symmetric key'],
      ['a symmetric key', { keys: [{ kty: 'oct', k: 'k' }] }, 'has a private or symmetric key'],
      [
        'a short RSA key',
        { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] },
        'has an RSA key of less than 2048 bits',
      ],
    ])('refuses a file of keys with %s', (_what, content, problem) => {
      const jwksFile = write('keys.json', content);
      const { problems, servers } = read([entry({ client: { jwksFile } })]);
      expect(servers).toEqual([]);
      expect(problems.join('\n')).toContain(`.client.jwksFile names a file that ${problem}`);
    });

    it.each([
      [{ jwksUri: 'http://relay.example.com/jwks' }, '.client.jwksUri must be an https address'],
      [
        { jwksUri: 'https://me@relay.example.com/jwks' },
        '.client.jwksUri must be an https address',
      ],
      [{ jwksUri: 'https://a.example', jwksFile: '/none' }, '.client must have exactly one of'],
      [{ kubernetes: CLUSTER }, '.client.kubernetes must have exactly one of jwksFile, jwksUri'],
      [
        { kubernetes: { ...CLUSTER, subject: 'relay', jwksUri: 'https://a.example' } },
        '.client.kubernetes.subject must be system:serviceaccount:',
      ],
      [
        { kubernetes: { ...CLUSTER, jwksUri: 'https://a.example', caFile: '/none' } },
        '.client.kubernetes.caFile names a file that does not exist',
      ],
    ])('refuses %j', (client, problem) => {
      expect(read([entry({ client })]).problems.join('\n')).toContain(problem);
    });

    it('refuses authorities and a token where the keys are a file', () => {
      const jwksFile = write('keys.json', { keys: [KEY] });
      const bearerFile = write('token', 'a.b.c');
      const { problems } = read([
        entry({ client: { kubernetes: { ...CLUSTER, jwksFile, bearerFile } } }),
      ]);
      expect(problems.join('\n')).toContain('.bearerFile has no effect without jwksUri.');
    });
  });
});
