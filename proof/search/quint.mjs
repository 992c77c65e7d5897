import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs the command line of Quint. @returns its output @throws Error with it when it fails */
export function quint(args) {
  const entry = createRequire(import.meta.url).resolve('@informalsystems/quint');
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-quint-'));
  const path = join(directory, 'output');
  // Quint exits before a pipe has taken a long output; a file has it whole.
  const output = openSync(path, 'w');
  try {
    const program = [join(dirname(entry), 'cli.js'), ...args];
    const { status } = spawnSync(process.execPath, program, { stdio: ['ignore', output, output] });
    const text = readFileSync(path, 'utf8');
    if (status !== 0) {
      throw new Error(`quint ${args.join(' ')} failed:\n${text}`);
    }
    return text;
  } finally {
    closeSync(output);
    rmSync(directory, { recursive: true });
  }
}

/**
 * Parses and checks a model.
 *
 * @param main the instance to resolve
 * @param step its action that is one step
 * @returns its modules
 */
export function compileModel(file, main, step = 'step') {
  const names = ['--invariant', 'invariants', '--step', step, '--main', main];
  return JSON.parse(quint(['compile', '--target', 'json', ...names, file]));
}
