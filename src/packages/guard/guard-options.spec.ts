import { revocationBounds } from '../../core/policy/admission/revocation.js';
import {
  isSecureAddress,
  metadataUrlOf,
  readOptions,
  type GuardLogEntry,
  type GuardOptions,
} from './guard-options.js';

const OPTIONS: GuardOptions = {
  issuer: 'https://gate.example.com',
  resource: 'https://relay.example.com',
  client: { id: 'relay', secret: 'secret' },
};

describe(readOptions.name, () => {
  it('uses the lease that the policy promises for backends', () => {
    const { leaseMs, closeOnTokenExpiry } = readOptions(OPTIONS);
    expect(leaseMs).toBe(revocationBounds(0).backendSeconds * 1000);
    expect(closeOnTokenExpiry).toBe(false);
  });

  it('keeps what the options say', () => {
    const changed = { tokenAlg: 'RS256', closeOnTokenExpiry: true, leaseSeconds: 25 } as const;
    expect(readOptions({ ...OPTIONS, ...changed })).toMatchObject({
      ...OPTIONS,
      tokenAlg: 'RS256',
      closeOnTokenExpiry: true,
      leaseMs: 25_000,
      cacheMs: null,
    });
  });

  it.each([25, 300])('accepts a lease of %i seconds', (leaseSeconds) => {
    expect(readOptions({ ...OPTIONS, leaseSeconds }).leaseMs).toBe(leaseSeconds * 1000);
  });

  it.each([24, 301, 30.5, Number.NaN, '30', null])(
    'refuses a lease of %j seconds',
    (leaseSeconds) => {
      expect(() => readOptions({ ...OPTIONS, leaseSeconds } as GuardOptions)).toThrow(
        '"leaseSeconds" must be a whole number from 25 to 300.',
      );
    },
  );

  it.each([0, 60])('accepts introspection with a cache of %i seconds', (cacheSeconds) => {
    const settings = readOptions({ ...OPTIONS, introspection: { cacheSeconds } });
    expect(settings.cacheMs).toBe(cacheSeconds * 1000);
  });

  it.each([-1, 61, 0.5, undefined])('refuses a cache of %j seconds', (cacheSeconds) => {
    const introspection = { cacheSeconds };
    expect(() => readOptions({ ...OPTIONS, introspection } as GuardOptions)).toThrow(
      '"introspection.cacheSeconds" must be a whole number from 0 to 60.',
    );
  });

  it.each(['issuer', 'resource'])('refuses a %s that is no plain address', (name) => {
    const addresses = [
      '',
      7,
      undefined,
      'relay',
      'http://gate.example.com',
      'ftp://gate.example.com',
      'https://gate.example.com/',
      'https://gate.example.com?x=1',
      'https://gate.example.com#x',
      'https://user@gate.example.com',
      'https://:word@gate.example.com',
    ];
    for (const address of addresses) {
      expect(() => readOptions({ ...OPTIONS, [name]: address })).toThrow(
        `"${name}" must be an https address`,
      );
    }
  });

  it('reads the scopes that programs ask for at first', () => {
    expect(readOptions(OPTIONS).initialScopes).toBeNull();
    const { initialScopes } = readOptions({ ...OPTIONS, initialScope: 'notes:read notes:list' });
    expect(initialScopes).toEqual(['notes:read', 'notes:list']);
  });

  it.each(['', ' ', 'a  b', 'a"b', 7, null, ['a']])('refuses %j as scopes', (initialScope) => {
    expect(() => readOptions({ ...OPTIONS, initialScope } as GuardOptions)).toThrow(
      '"initialScope" must be scopes with single spaces between them.',
    );
  });

  it('refuses another algorithm', () => {
    expect(() => readOptions({ ...OPTIONS, tokenAlg: 'HS256' } as never)).toThrow(
      '"tokenAlg" must be ES256 or RS256.',
    );
  });

  it.each([
    { id: 'relay', secret: 'x' },
    { id: 'relay', secretFile: 'x' },
    { id: 'relay', privateKeyFile: 'x' },
    { id: 'relay', assertionFile: 'x' },
  ])('accepts the client %j', (client) => {
    expect(readOptions({ ...OPTIONS, client }).client).toBe(client);
  });

  it.each([
    { id: 'relay' },
    { secret: 'x' },
    { id: '', secret: 'x' },
    { id: 7, secret: 'x' },
    { id: 'relay', secret: '' },
    { id: 'relay', secret: 7 },
    { id: 'relay', secret: 'x', secretFile: 'y' },
    { id: 'relay', privateKeyFile: 'x', assertionFile: 'y' },
  ])('refuses the client %j', (client) => {
    expect(() => readOptions({ ...OPTIONS, client } as GuardOptions)).toThrow(
      '"client" must have an id and one of secret, secretFile, privateKeyFile, assertionFile.',
    );
  });

  it('sends requests with the given fetch', () => {
    const own: typeof fetch = () => Promise.resolve(new Response());
    expect(readOptions({ ...OPTIONS, fetch: own }).fetch).toBe(own);
  });

  it('sends requests with the global fetch of that moment', async () => {
    const { fetch: send } = readOptions(OPTIONS);
    const platform = globalThis.fetch;
    const asked: unknown[] = [];
    globalThis.fetch = (...parts) => {
      asked.push(parts);
      return Promise.resolve(new Response('own'));
    };
    try {
      const init = { method: 'POST' };
      expect(await (await send('https://gate.example.com', init)).text()).toBe('own');
      expect(asked).toEqual([['https://gate.example.com', init]]);
    } finally {
      globalThis.fetch = platform;
    }
  });

  it.each(['log', 'fetch'])('refuses %s that is no function', (name) => {
    for (const value of [5, 'console', {}]) {
      const options = { ...OPTIONS, [name]: value } as never;
      expect(() => readOptions(options)).toThrow(`"${name}" must be a function.`);
    }
  });

  it.each([undefined, null])('refuses %j as the client by its name', (client) => {
    expect(() => readOptions({ ...OPTIONS, client } as never)).toThrow(
      '"client" must have an id and one of',
    );
  });

  it('survives a log that fails', () => {
    const seen: GuardLogEntry[] = [];
    const { log } = readOptions({
      ...OPTIONS,
      log: (entry) => {
        seen.push(entry);
        throw new Error('The log is full.');
      },
    });
    const entry = { level: 'warn', message: 'x' } as const;
    expect(() => log(entry)).not.toThrow();
    expect(seen).toEqual([entry]);
  });

  it.each([
    [{ level: 'info', message: 'signals are received' }, 'signals are received'],
    [{ level: 'warn', message: 'a watcher failed', reason: 'x' }, 'a watcher failed (x)'],
  ] as const)('logs %j to the console', (entry, text) => {
    const { [entry.level]: platform } = console;
    const lines: unknown[] = [];
    console[entry.level] = (...parts: unknown[]) => void lines.push(parts);
    try {
      readOptions(OPTIONS).log(entry);
    } finally {
      console[entry.level] = platform;
    }
    expect(lines).toEqual([[`gatehouse guard: ${text}`]]);
  });
});

describe(isSecureAddress.name, () => {
  it.each([
    ['https://gate.example.com', true],
    ['https://gate.example.com/path?x=1', true],
    ['http://localhost:3000', true],
    ['http://127.0.0.1', true],
    ['http://127.12.255.1:8080', true],
    ['http://[::1]:3000', true],
    ['http://gate.example.com', false],
    ['http://10.0.0.1', false],
    ['http://127.0.0.1.evil.example', false],
    ['http://evil-localhost', false],
    ['http://localhost.evil.example', false],
    ['http://[::2]', false],
    ['ftp://localhost', false],
    ['ws://127.0.0.1', false],
    ['https://user@gate.example.com', false],
    ['https://:word@gate.example.com', false],
    ['http://user@localhost', false],
    ['gate.example.com', false],
    ['', false],
  ])('judges %s: %s', (text, expected) => {
    expect(isSecureAddress(text)).toBe(expected);
  });
});

describe(metadataUrlOf.name, () => {
  it.each([
    ['https://relay.example', 'https://relay.example/.well-known/oauth-protected-resource'],
    ['https://relay.example/a/b', 'https://relay.example/.well-known/oauth-protected-resource/a/b'],
    [
      'https://relay.example:8443',
      'https://relay.example:8443/.well-known/oauth-protected-resource',
    ],
  ])('puts the well-known name of %s before its path', (resource, url) => {
    expect(metadataUrlOf(resource)).toBe(url);
  });
});
