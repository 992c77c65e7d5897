import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, challengedLogin, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const MEBIBYTE = 1024 * 1024;

/** Returns true if this user may mount a volume of a given size. */
function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-mount-'));
  const isMounted = mount(directory, 1);
  if (isMounted) {
    spawnSync('umount', [directory]);
  }
  rmSync(directory, { recursive: true });
  return isMounted;
}

function mount(directory: string, mebibytes: number, option = ''): boolean {
  const options = `${option}size=${mebibytes}m`;
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]).status === 0;
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  for (const size of [MEBIBYTE, 4096, 1]) {
    try {
      for (;;) {
        writeSync(file, Buffer.alloc(size));
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
  closeSync(file);
}

const withMounts = process.platform === 'linux' && canMount() ? describe : describe.skip;

withMounts('the embedded database on a full disk (needs the right to mount)', () => {
  let volume: string;
  beforeEach(() => {
    volume = mkdtempSync(join(tmpdir(), 'gatehouse-volume-'));
  });
  afterEach(() => {
    spawnSync('umount', [volume]);
    rmSync(volume, { recursive: true });
  });

  const storeOn = (directory: string) => ({
    databaseUrl: null,
    env: { SERVICE_DATA_DIR: directory },
    drop: () => Promise.resolve(),
  });

  it('says at the first start that there is no space, and makes the database once there is', async () => {
    mount(volume, 4);
    const directory = join(volume, 'data');
    mkdirSync(directory);
    const server = await startServer({ store: storeOn(directory), untilReady: false });
    await server.logged(
      /cannot be made: ENOSPC: no space left on device, write\. Check the free disk space\./,
    );
    expect(await call(server, 'GET', '/readyz')).toMatchObject({ status: 503 });
    mount(volume, 256, 'remount,');
    await waitFor('it is ready', async () => (await call(server, 'GET', '/readyz')).status === 200);
    expect(await tokenOf(server, makeDeviceKey())).not.toBe('');
    await server.stop();
  });

  it('answers writes with 503, goes on reading, and recovers without a restart', async () => {
    mount(volume, 256);
    const directory = join(volume, 'data');
    mkdirSync(directory);
    const server = await startServer({ store: storeOn(directory) });
    const token = await tokenOf(server, makeDeviceKey());
    const filler = join(volume, 'filler');
    fill(filler);
    let refused = await signUp();
    for (let tries = 0; refused.status === 200 && tries < 2000; tries += 1) {
      refused = await signUp();
    }
    expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await server.logged(/The disk of the database is full/);
    expect((await call(server, 'GET', '/v1/account/profile', { token })).status).toBe(200);
    expect((await call(server, 'GET', '/livez')).status).toBe(200);
    rmSync(filler);
    await waitFor('writes succeed', async () => (await signUp()).status === 200);
    expect((await call(server, 'GET', '/v1/account/profile', { token })).status).toBe(200);
    await server.stop();

    async function signUp() {
      const body = await challengedLogin(server, makeDeviceKey()).catch(() => ({}));
      return call(server, 'POST', '/v1/auth', { body });
    }
  });
});
