import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { ServerStore } from './server-store.js';

const SERVER = 'https://gate.example.org';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gatehouse-store-'));
});

const newKey = async () => (await DeviceKey.generate()).toJwk();

describe(ServerStore.name, () => {
  it('keeps the first of two keys that were made at the same time', async () => {
    const store = new ServerStore({ XDG_CONFIG_HOME: home });
    const keys = await Promise.all([newKey(), newKey(), newKey()]);
    const kept = await Promise.all(keys.map((key) => store.saveDeviceKey(SERVER, key)));
    expect(new Set(kept.map(({ x }) => x)).size).toBe(1);
    expect(await store.deviceKey(SERVER)).toEqual(kept[0]);
    const files = await readdir(home, { recursive: true });
    expect(files.filter((path) => path.endsWith('.tmp'))).toEqual([]);
  });

  it('names the file that cannot be written, and no temporary one', async () => {
    const path = join(home, 'gatehouse', 'last-server.json');
    await mkdir(path, { recursive: true });
    const store = new ServerStore({ XDG_CONFIG_HOME: home });
    const saved = store.saveSession({ server: SERVER, accountId: 'account-1', token: 'a.b.c' });
    await expect(saved).rejects.toMatchObject({ code: 'EISDIR', path });
  });

  it('ignores a relative XDG_CONFIG_HOME', async () => {
    const store = new ServerStore({ XDG_CONFIG_HOME: 'here', HOME: home });
    await store.saveSession({ server: SERVER, accountId: 'account-1', token: 'a.b.c' });
    expect(await readdir(join(home, '.config', 'gatehouse'))).toContain('last-server.json');
  });

  it('distinguishes servers whose hosts look alike', async () => {
    const store = new ServerStore({ XDG_CONFIG_HOME: home });
    await store.saveDeviceKey(SERVER, await newKey());
    expect(await store.deviceKey(`${SERVER}/under/a/path`)).toBeNull();
    expect(await store.deviceKey('http://gate.example.org')).toBeNull();
  });

  it.each(['{"server":"garbage"}', '{"server":"file:///etc"}', '{"server":5}', '{}', ''])(
    'reports a file whose server is damaged: %s',
    async (text) => {
      await mkdir(join(home, 'gatehouse'));
      const path = join(home, 'gatehouse', 'last-server.json');
      await writeFile(path, text);
      const store = new ServerStore({ XDG_CONFIG_HOME: home });
      await expect(store.lastServer()).rejects.toMatchObject({
        message: `${path} is damaged.`,
        facts: { code: 'damaged-file', exitCode: 78 },
      });
    },
  );

  it.each([
    ['cut off', () => '{"kty":"OKP"'],
    ['of two keys', async () => JSON.stringify({ ...(await newKey()), x: (await newKey()).x })],
  ])('says that the account of a device key is lost, where the file is %s', async (_name, text) => {
    const store = new ServerStore({ XDG_CONFIG_HOME: home });
    await store.saveDeviceKey(SERVER, await newKey());
    const names = await readdir(home, { recursive: true });
    const file = names.find((name) => name.endsWith('device-key.json')) ?? '';
    await writeFile(join(home, file), await text());
    await expect(store.requireDeviceKey(SERVER)).rejects.toMatchObject({
      message: `${join(home, file)} is damaged.`,
      facts: { code: 'damaged-file', exitCode: 78, hint: expect.stringContaining('lost') },
    });
  });
});
