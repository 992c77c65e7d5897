import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPlanted } from './planted.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('planted bugs', () => {
  const planted = readPlanted();
  const invariants = ['revocation.qnt', 'guard.qnt', 'grant.qnt'].flatMap((file) => {
    const source = readFileSync(`${ROOT}proof/${file}`, 'utf8');
    return (/val invariants = and \{([^}]+)\}/.exec(source)?.[1] ?? '')
      .split(',')
      .map((name) => name.trim());
  });

  it('breaks each invariant of the models, and no other', () => {
    const broken = new Set(planted.map(({ invariant }) => invariant));
    expect([...broken].toSorted()).toEqual([...new Set(invariants)].toSorted());
  });

  it('includes at least four past bugs of this repository', () => {
    expect(planted.filter(({ past }) => past !== null).length).toBeGreaterThanOrEqual(4);
  });

  it('lists the planted bugs in the documentation', () => {
    const page = readFileSync(`${ROOT}docs/proof.md`, 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| `(\w+)` +\| [^|]+\| (\w*) *\|$/gm)].map(
      ([, name, invariant, past]) => ({ name, invariant, past: past === '' ? null : past }),
    );
    expect(rows).toEqual(planted.map(({ name, invariant, past }) => ({ name, invariant, past })));
  });

  it.each(planted)('applies a patch of one changed line: $name', ({ path, changedLines }) => {
    expect(changedLines).toBe(1);
    const { stderr } = spawnSync('git', ['apply', '--check', path], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
  });
});
