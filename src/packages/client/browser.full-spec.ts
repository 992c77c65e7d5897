import { builtinModules } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { bundleClient } from '../../../test/helpers/client-bundle.js';
import { reportKit } from '../../../test/helpers/kit-report.js';
import { KIT_VECTORS } from '../../../test/helpers/kit-vectors.js';
import { importsIn } from '../../../test/helpers/source-reader.js';

const FOLDER = new URL('./', import.meta.url);

const PLATFORM = [
  'URL',
  'URLSearchParams',
  'TextEncoder',
  'crypto',
  'fetch',
  'AbortSignal',
  'atob',
  'btoa',
] as const;

describe('@gatehouse/client', () => {
  const sources = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((name) => /(?<!spec)\.ts$/.test(name));

  it.each(sources)('imports in %s nothing that only Node has', (name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const packages = importsIn(text).map(({ from }) => from.split('/')[0] ?? '');
    const ofNode = packages.filter(
      (from) => from.startsWith('node:') || builtinModules.includes(from),
    );
    expect(ofNode).toEqual([]);
    expect(text).not.toMatch(/\bBuffer\b|\bprocess\./);
  });

  it('bundles for browsers without code of Node or the server', async () => {
    const { files, external } = await bundleClient();
    expect(external).toEqual([]);
    const own = files.filter((path) => !path.includes('node_modules'));
    const isOurs =
      /^src\/((packages\/client|core)\/[\w/-]+|common\/(addresses|parse-json|retry-after|runtime\/(clock|moment)))\.ts$/;
    expect(own.filter((path) => !isOurs.test(path))).toEqual([]);
    expect(own).toContain('src/packages/client/updates/connect-updates.ts');
  });

  it.each([
    [['readNotificationTarget', 'routeNotification'], []],
    [['AccountContent'], ['@noble/ciphers', '@noble/hashes', '@scure/base']],
    [['DeviceKey'], ['@noble/curves', '@noble/hashes', '@scure/base', 'ipaddr.js']],
  ])('adds to an app that imports %j nothing but %j', async (names, expected) => {
    const { files } = await bundleClient('src/packages/client/index.ts', names);
    const packages = files.flatMap((path) => {
      const [, name = ''] = /node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(path) ?? [];
      return name === '' ? [] : [name];
    });
    expect([...new Set(packages)].sort()).toEqual(expected);
  });

  it('runs without Node', async () => {
    const { script } = await bundleClient();
    const context = createContext(
      Object.fromEntries(PLATFORM.map((name) => [name, globalThis[name]])),
    );
    runInContext(script, context);
    const answer: unknown = await runInContext(
      `(async () => {
        const key = await gatehouse.DeviceKey.generate();
        const challenge = btoa(['gatehouse-login-v1', 'https://gate.example', 'A'.repeat(43), Date.now() + 60_000].join('\\n'));
        const signature = await key.signChallenge(challenge, 'https://gate.example');
        const { proof, proofHash } = await gatehouse.makeLoginProof();
        const { deviceKey } = gatehouse.authChoices({ capabilities: { auth: { methods: [] } } });
        return [signature.length, proof.length, proofHash.length, deviceKey.canLogIn, typeof process];
      })()`,
      context,
    );
    expect([...(answer as unknown[])]).toEqual([86, 64, 64, false, 'undefined']);
  });

  it('returns the same results with the language only', async () => {
    const { script } = await bundleClient('test/helpers/kit-report.ts');
    const context = createContext({});
    runInContext(script, context);
    const bare: unknown = await runInContext(
      `gatehouse.reportKit(${JSON.stringify(KIT_VECTORS)}).then(JSON.stringify)`,
      context,
    );
    const report = JSON.parse(String(bare)) as Record<string, unknown>;
    expect(report).toEqual(JSON.parse(JSON.stringify(await reportKit(KIT_VECTORS))));
    const { ed25519, hkdf, xchacha, content, device, requests } = KIT_VECTORS;
    expect(report).toMatchObject({
      vectors: {
        ed25519: ed25519.cases.map(({ publicKey, signature }) => ({ publicKey, signature })),
        hkdf: hkdf.cases.map(({ okm }) => okm),
        xchacha: xchacha.sealed,
      },
      content: {
        contentKey: content.contentKey,
        opened: content.values.map(({ plaintext }) => plaintext),
        settings: content.settings.map(({ rev, plaintext, hash }) => ({
          value: JSON.parse(plaintext) as unknown,
          mark: { rev, hash },
        })),
        refused: content.values.map(() => [
          ...Array.from({ length: 4 }, () => 'not-authentic'),
          'other-form',
        ]),
      },
      keys: {
        texts: content.keys.map(({ text, olderText }) => [olderText, text]),
        mistyped: 'checksum',
        relayed: 'other-server',
      },
      device: device.approvals.map(({ plaintext, keyWords, words }) => ({
        via: words === undefined ? 'link' : 'code',
        secret: (JSON.parse(plaintext) as { readonly secret?: string }).secret ?? null,
        ...(keyWords !== undefined && { keyWords }),
        ...{ relayed: 'not-for-this-device', swapped: 'other-account' },
      })),
      requests: requests.requests.map(({ answers }) => ({
        isSame: true,
        swapped: 'not-authentic',
        verified: answers.map(({ plaintext }) => plaintext),
      })),
      notifications: [
        [{ serverUrl: 'https://gate.example' }, { step: 'open' }, {}],
        [{ serverUrl: 'https://other.example/base' }, { step: 'switch-server' }, {}],
        [{ serverUrl: 'http://[::1]:3000' }, { step: 'add-server' }, {}],
        null,
      ],
      addresses: {
        servers: ['https://gate.example', 'http://127.0.0.1:3000/a', 'http://[fd00::1]', null],
        returned: { kind: 'connect', pending: 'a b' },
        link: { serverUrl: 'https://gate.example', userCode: 'WDJB-MJHT' },
      },
    });
    expect(await runInContext('typeof crypto + typeof URL + typeof TextEncoder', context)).toBe(
      'undefined'.repeat(3),
    );
  });

  it('names the missing feature where there are no random bytes', async () => {
    const context = await bareContext();
    const messages: unknown = await runInContext(
      `Promise.all([gatehouse.DeviceKey.generate(), gatehouse.makeLoginProof(), gatehouse.makeDeviceSecrets()]
        .map((made) => made.then(() => 'made', (error) => error.message))).then(JSON.stringify)`,
      context,
    );
    expect(JSON.parse(String(messages))).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('react-native-get-random-values')),
    );
  });

  it('creates keys, seals and adds a device with random bytes only, as in React Native', async () => {
    const context = await bareContext({
      crypto: { getRandomValues: (into: Uint8Array) => crypto.getRandomValues(into) },
    });
    const answer: unknown = await runInContext(
      `(async () => {
        const key = await gatehouse.DeviceKey.generate();
        const content = new gatehouse.AccountContent(key.bytes, 'account');
        const value = { text: 'Grüße' };
        const sealed = [content.sealSettings(1, value), content.sealSettings(1, value)];
        const device = await gatehouse.makeDeviceSecrets();
        const handed = { accountId: 'a', encryptionMode: 'e2ee', key, settings: null };
        const { sealed: approval } = await gatehouse.sealAccount({ ...device, origins: [] }, handed, device.linkSecret);
        const { account } = await gatehouse.openApproval(device, [], { accountId: 'a', sealed: approval });
        const same = account.key;
        const { proof, proofHash } = await gatehouse.makeLoginProof();
        const link = { serverUrl: 'https://gate.example', userCode: 'WDJB-MJHT', ...device };
        return JSON.stringify([typeof crypto.subtle, typeof URL, sealed[0] !== sealed[1],
          sealed.map((one) => content.openSettings(one).value.text), same.secret === key.secret,
          proof.length, proofHash.length, gatehouse.readDeviceLink(gatehouse.deviceLink(link)).publicKey === device.publicKey]);
      })()`,
      context,
    );
    expect(JSON.parse(String(answer))).toEqual([
      ...['undefined', 'undefined', true, ['Grüße', 'Grüße'], true, 64, 64, true],
    ]);
  });
});

async function bareContext(platform: object = {}) {
  const { script } = await bundleClient();
  const context = createContext(platform);
  runInContext(script, context);
  return context;
}
