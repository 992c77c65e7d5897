import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface BuildFiles {
  /** Files and folders, relative to the root; specs in them do not count. */
  readonly inputs: readonly string[];
  /** What every build writes anew. */
  readonly outputs: readonly string[];
}

const FILES: BuildFiles = {
  inputs: [
    ...['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.entries.json'],
    ...['.swcrc', 'nest-cli.json', 'rolldown.config.mjs'],
  ],
  outputs: ['bin/server.js', 'bin/gatehouse.js', 'web/index.html', 'client/index.d.ts'].map(
    (name) => `dist/${name}`,
  ),
};
const SPEC = /spec\.ts$/;

/** Runs `npm run build` where the build is missing, or older than what it is made of. */
export function buildIfStale(rootDir: string): void {
  if (isStale(rootDir, FILES)) {
    execFileSync('npm', ['run', '--silent', 'build'], {
      cwd: rootDir,
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

export function isStale(rootDir: string, { inputs, outputs }: BuildFiles): boolean {
  const builtAt = outputs.map((name) => {
    const stats = statSync(join(rootDir, name), { throwIfNoEntry: false });
    return stats?.mtimeMs ?? 0;
  });
  const oldest = Math.min(...builtAt);
  return inputs.some((name) => changedAt(join(rootDir, name)) > oldest);
}

/** When the newest file was changed. */
function changedAt(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) {
    return SPEC.test(path) ? 0 : stats.mtimeMs;
  }
  return Math.max(0, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}
