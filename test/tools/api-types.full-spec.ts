import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'tools/node_modules/openapi-typescript/bin/cli.js');

it.each([
  ['src/packages/client/api/api-types.ts', 'docs/openapi.json'],
  ['src/packages/client/api/admin-types.ts', 'docs/admin-openapi.json'],
])('keeps %s up to date (else: npm run generate)', (types, document) => {
  const run = (): string =>
    execFileSync(process.execPath, [CLI, document, '-o', types, '--check'], {
      cwd: ROOT,
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: 'pipe',
      encoding: 'utf8',
    });
  expect(run).not.toThrow();
});
