import { builtinModules } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { bundleClient } from '../../test/helpers/client-bundle.js';
import { importsIn } from '../../test/helpers/source-reader.js';

const FOLDER = new URL('./', import.meta.url);

/** What browsers and React Native have, and nothing of Node. */
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

describe('gatehouse/client', () => {
  const sources = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((name) => /(?<!\.spec)\.ts$/.test(name));

  it.each(sources)('%s imports nothing that only Node has', (name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const packages = importsIn(text).map(({ from }) => from.split('/')[0] ?? '');
    const ofNode = packages.filter(
      (from) => from.startsWith('node:') || builtinModules.includes(from),
    );
    expect(ofNode).toEqual([]);
    expect(text).not.toMatch(/\bBuffer\b|\bprocess\./);
  });

  it('is bundled for browsers with nothing of Node in it, and nothing of the server', async () => {
    const { files, external } = await bundleClient();
    expect(external).toEqual([]);
    const own = files.filter((path) => !path.includes('node_modules'));
    const isOurs = /^src\/((client|policy)\/[\w/-]+|common\/addresses)\.ts$/;
    expect(own.filter((path) => !isOurs.test(path))).toEqual([]);
    expect(own).toContain('src/client/updates/connect-updates.ts');
  });

  it('runs where there is no Node', async () => {
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

  it('adds a device where there is no Web Crypto but random bytes, as in React Native', async () => {
    const { script } = await bundleClient();
    const context = createContext({
      crypto: { getRandomValues: (into: Uint8Array) => crypto.getRandomValues(into) },
      ...{ URL, URLSearchParams, TextEncoder, atob, btoa },
    });
    runInContext(script, context);
    const answer: unknown = await runInContext(
      `(async () => {
        const device = await gatehouse.makeDeviceSecrets();
        const secret = Uint8Array.from({ length: 32 }, (_, index) => index);
        const sealed = await gatehouse.sealForDevice(device.publicKey, secret);
        const opened = await gatehouse.openSealedSecret(device, sealed);
        const words = gatehouse.deviceCheckWords(device.publicKey);
        const link = { serverUrl: 'https://gate.example', userCode: 'WDJB-MJHT', publicKey: device.publicKey };
        const read = gatehouse.readDeviceLink(gatehouse.deviceLink(link));
        return [typeof crypto.subtle, device.proofHash.length, opened.join() === secret.join(),
          words.length, read.publicKey === device.publicKey];
      })()`,
      context,
    );
    expect([...(answer as unknown[])]).toEqual(['undefined', 64, true, 5, true]);
  });
});
