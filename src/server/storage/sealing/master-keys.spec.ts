import { chmod, mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../../common/runtime/random.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import { loadMasterSecret } from './master-keys.js';

const random = new Random();

describe(loadMasterSecret.name, () => {
  let parent: string;
  let dataDir: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-secret-'));
    dataDir = join(parent, 'data');
  });

  it('creates 32 random bytes once and returns the same ones from then on', async () => {
    const secret = await loadMasterSecret(dataDir, random);
    expect(Buffer.from(secret, 'base64')).toHaveLength(32);
    expect(await loadMasterSecret(dataDir, random)).toBe(secret);
    expect(await loadMasterSecret(join(parent, 'other'), random)).not.toBe(secret);
  });

  it('protects the file and the directory from other users', async () => {
    await loadMasterSecret(dataDir, random);
    expect((await stat(join(dataDir, 'master-secret'))).mode & 0o777).toBe(0o600);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  it('returns the same secret to many simultaneous creators, and leaves no draft', async () => {
    const secrets = await Promise.all(
      Array.from({ length: 20 }, () => loadMasterSecret(dataDir, random)),
    );
    expect(new Set(secrets).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['master-secret']);
  });

  it('creates no secret for an existing database', async () => {
    await mkdir(join(dataDir, 'db'), { recursive: true });
    await writeFile(join(dataDir, 'db', 'PG_VERSION'), '17\n');
    const failure = await loadMasterSecret(dataDir, random).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(String(failure)).toContain(
      `its master secret ${join(dataDir, 'master-secret')} does not`,
    );
    expect(await readdir(dataDir)).toEqual(['db']);
  });

  it.each(['', 'below'])(
    'names a directory that cannot be used, in the place of a file: %j',
    async (below) => {
      await writeFile(dataDir, '');
      const failure = await loadMasterSecret(join(dataDir, below), random).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(ConfigurationError);
      expect(String(failure)).toContain(`${join(dataDir, below)} cannot be used`);
    },
  );

  it('names a directory that cannot be made, as in /proc', async () => {
    const directory = '/proc/gatehouse/data';
    await expect(loadMasterSecret(directory, random)).rejects.toThrow(
      `The directory ${directory} cannot be used`,
    );
  });

  it.each([0o640, 0o604, 0o660])('refuses mode %o and names the correction', async (mode) => {
    await loadMasterSecret(dataDir, random);
    const path = join(dataDir, 'master-secret');
    await chmod(path, mode);
    await expect(loadMasterSecret(dataDir, random)).rejects.toThrow(`chmod 600 '${path}'`);
  });

  it.each(['', 'short', `${Buffer.alloc(31).toString('base64')}\n`])(
    'refuses the damaged secret %j and creates no other',
    async (content) => {
      await loadMasterSecret(dataDir, random);
      await writeFile(join(dataDir, 'master-secret'), content);
      await expect(loadMasterSecret(dataDir, random)).rejects.toThrow('Restore it from a backup');
    },
  );
});
