import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectoryInUseError, openDataDirectory } from './data-directory.js';

describe(openDataDirectory.name, () => {
  let parent: string;
  let dataDir: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-lock-'));
    dataDir = join(parent, 'data');
  });

  it('creates a directory that only its owner may enter', async () => {
    const directory = await openDataDirectory(dataDir);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    await directory.release();
  });

  it('ends where no directory can be made, as in /proc', async () => {
    await expect(openDataDirectory('/proc/gatehouse/data')).rejects.toThrow('mkdir');
  });

  it('refuses a second claim, naming the holder, until the first is released', async () => {
    const directory = await openDataDirectory(dataDir);
    await expect(openDataDirectory(dataDir)).rejects.toThrow(DataDirectoryInUseError);
    await expect(openDataDirectory(dataDir)).rejects.toThrow(`pid ${process.pid}`);
    await directory.release();
    await (await openDataDirectory(dataDir)).release();
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('admits exactly one of many simultaneous starts', async () => {
    const claims = await Promise.allSettled(
      Array.from({ length: 20 }, () => openDataDirectory(dataDir)),
    );
    const held = claims.filter((claim) => claim.status === 'fulfilled');
    expect(held).toHaveLength(1);
    await held[0]?.value.release();
  });

  it('works with a path longer than a socket path may be', async () => {
    const deep = join(dataDir, 'd'.repeat(100), 'e'.repeat(100));
    const directory = await openDataDirectory(deep);
    await expect(openDataDirectory(deep)).rejects.toThrow(DataDirectoryInUseError);
    await directory.release();
  });

  it('is not blocked by the files of a killed holder, and removes them', async () => {
    await (await openDataDirectory(dataDir)).release();
    await leaveDeadSocket(join(dataDir, 'lock-0123456789ab.sock'));
    expect(await readdir(dataDir)).toEqual(['lock-0123456789ab.sock']);
    const directory = await openDataDirectory(dataDir);
    expect(await readdir(dataDir)).not.toContain('lock-0123456789ab.sock');
    await directory.release();
  });

  it('respects a holder that is alive but does not answer', async () => {
    await (await openDataDirectory(dataDir)).release();
    const mute = createServer().listen(join(dataDir, 'lock-0123456789ab.sock'));
    await once(mute, 'listening');
    await expect(openDataDirectory(dataDir)).rejects.toThrow('it does not answer');
    mute.close();
  });
});

async function leaveDeadSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script, path]), 'exit');
}
