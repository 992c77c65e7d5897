import { readFileSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import {
  hasRegistry,
  installPacked,
  run,
  type Installed,
} from '../../fixtures/programs/packages-fixture.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Resolutions that find CommonJS only. */
const NO_ES_MODULES: readonly string[] = ['node10', 'node16-cjs'];

const examples = (): string[] => {
  const page = readFileSync(join(ROOT, 'tools/packages/guard/README.md'), 'utf8');
  return [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
};

(hasRegistry() ? describe : describe.skip)('The package of the guard', () => {
  let installed: Installed;
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(installed.folder, name), text);

  beforeAll(async () => {
    installed = await installPacked(['guard']);
  });
  afterAll(() => installed.remove());

  it('depends on jose alone', async () => {
    const path = join(installed.folder, 'node_modules/@gatehouse/guard/package.json');
    const { dependencies } = JSON.parse(await readFile(path, 'utf8')) as {
      readonly dependencies: object;
    };
    expect(Object.keys(dependencies)).toEqual(['jose']);
    const files = installed.packages[0]?.files ?? [];
    const others = files.filter((name) => !/^(common|guard|policy)\/.*\.(d\.ts|js)$/.test(name));
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  });

  it('resolves for every tool that reads ES modules', async () => {
    const bytes = Uint8Array.from(await readFile(installed.packages[0]?.tarball ?? ''));
    const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    expect(messages).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(bytes));
    const problems = analysis.types === false ? [analysis] : analysis.problems;
    const ofEsModules = problems.filter(
      (problem) => !('resolutionKind' in problem && NO_ES_MODULES.includes(problem.resolutionKind)),
    );
    expect(ofEsModules).toEqual([]);
  });

  it('declares types that fit Fastify, ws and Socket.IO', async () => {
    await linkNodeModules('fastify', 'ws', 'socket.io');
    await write(
      'typed.ts',
      `import { createServer } from 'node:http';
       import { accessOf, createGuard, type Access, type EndReason } from '@gatehouse/guard';
       import { startTestIssuer } from '@gatehouse/guard/testing';
       import fastify from 'fastify';
       const issuer = await startTestIssuer({ resource: 'https://relay.example.com' });
       const guard = createGuard(issuer.guardOptions);
       const app = fastify();
       await app.register(guard.fastify());
       app.get('/', (request) => accessOf(request).account);
       const server = createServer();
       guard.upgrade(server);
       const access: Access = await guard.verify(await issuer.token({ account: 'ada' }));
       const release: () => void = guard.hold(access, (reason: EndReason) => console.log(reason));
       // @ts-expect-error it needs the resource
       createGuard({ issuer: 'https://gate.example.com' });
       export { release };`,
    );
    const compilerOptions = {
      ...{ noEmit: true, strict: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    await write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
    const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
    const { stdout } = await run(compiler, [], { cwd: installed.folder }).catch(
      (failure: { readonly stdout: string }) => failure,
    );
    expect(stdout).toBe('');
  });

  it('runs the examples of its page', async () => {
    const [relay = '', test = ''] = examples();
    await linkNodeModules('express', 'ws');
    await write('relay.js', relay);
    await write('test.js', test);
    const { stdout } = await run(process.execPath, ['test.js'], { cwd: installed.folder });
    expect(stdout.split('\n').filter((line) => /^\d/.test(line))).toEqual(['200', '401']);
  });

  async function linkNodeModules(...names: readonly string[]): Promise<void> {
    const folder = join(installed.folder, 'node_modules');
    await mkdir(folder, { recursive: true });
    for (const name of names) {
      await symlink(join(ROOT, 'node_modules', name), join(folder, name)).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') {
            throw error;
          }
        },
      );
    }
  }
});
