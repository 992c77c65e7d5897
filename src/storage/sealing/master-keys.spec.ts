import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadMasterSecret } from './master-keys.js';

describe(loadMasterSecret.name, () => {
  let parent: string;
  let dataDir: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-secret-'));
    dataDir = join(parent, 'data');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  it('makes 32 random bytes once and returns the same ones from then on', async () => {
    const secret = await loadMasterSecret(dataDir);
    expect(Buffer.from(secret, 'base64')).toHaveLength(32);
    expect(await loadMasterSecret(dataDir)).toBe(secret);
    expect(await loadMasterSecret(join(parent, 'other'))).not.toBe(secret);
  });

  it('keeps the file and the directory from other users', async () => {
    await loadMasterSecret(dataDir);
    expect((await stat(join(dataDir, 'master-secret'))).mode & 0o777).toBe(0o600);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  it('gives every caller the same secret when many make it at once, and leaves no draft', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => loadMasterSecret(dataDir)));
    expect(new Set(secrets).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['master-secret']);
  });

  it.each([0o640, 0o604, 0o660])('refuses mode %o and says how to correct it', async (mode) => {
    await loadMasterSecret(dataDir);
    const path = join(dataDir, 'master-secret');
    await chmod(path, mode);
    await expect(loadMasterSecret(dataDir)).rejects.toThrow(`chmod 600 '${path}'`);
  });

  it.each(['', 'short', `${Buffer.alloc(31).toString('base64')}\n`])(
    'refuses the damaged secret %j instead of making another',
    async (content) => {
      await loadMasterSecret(dataDir);
      await writeFile(join(dataDir, 'master-secret'), content);
      await expect(loadMasterSecret(dataDir)).rejects.toThrow('Restore it from a backup');
    },
  );
});
