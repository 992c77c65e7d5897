import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { specFiles, tiersOf } from '../jest/tiers.mjs';

describe('spec files', () => {
  it('has exactly one tier in each name', () => {
    const files = specFiles();
    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((path) => tiersOf(path).length !== 1)).toEqual([]);
  });
});

describe('a unit test', () => {
  it('can start no program', () => {
    expect(() => spawnSync(process.execPath, ['--version'])).toThrow('integration-spec');
  });

  it('can open no port', () => {
    expect(() => createServer().listen(0)).toThrow('integration-spec');
  });

  it('can reach no server', async () => {
    await expect(fetch('http://127.0.0.1:1/')).rejects.toThrow('fetch failed');
  });
});
