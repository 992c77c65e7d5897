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

/** The backend of the docs, which listens at a free port, with the options of an issuer for tests. */
function backendOfDocs(): string {
  const page = readFileSync(join(ROOT, 'docs/protect-a-backend.md'), 'utf8');
  const code = /```js\n(import \{ createServer.*?)```/s.exec(page)?.[1] ?? '';
  return code
    .replace(/createGuard\(\{.*?\}\);/s, 'createGuard(JSON.parse(process.env.OPTIONS));')
    .replace('listen(8080)', 'listen(0)')
    .concat('export const startRelay = () => ({ guard, server });');
}

/** Sends a client's token, then what no client sends, and then an ordinary request. */
const ATTACK = `
  import { once } from 'node:events';
  import { request } from 'node:http';
  import { startTestIssuer } from '@gatehouse/guard/testing';
  import { WebSocket } from 'ws';
  const issuer = await startTestIssuer();
  process.env.OPTIONS = JSON.stringify(issuer.guardOptions);
  const { startRelay } = await import('./backend.js');
  const { guard, server } = await startRelay({ ...issuer.guardOptions, log: () => {} }, 0);
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address();
  const headers = { authorization: 'Bearer ' + (await issuer.token({ account: 'ada' })) };
  const socket = new WebSocket('ws://127.0.0.1:' + port, { headers });
  console.log((await once(socket, 'message'))[0].toString());
  socket.on('error', () => {});
  socket._socket.write(Buffer.from([0xff, 0xff]));
  console.log((await once(socket, 'close'))[0]);
  for (const path of ['//', '/#']) {
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
    const sent = request({ port, path, headers: { ...headers, ...upgrade } }).end();
    console.log((await once(sent, 'response'))[0].resume().statusCode);
  }
  const sent = request({ port, path: server.path ?? '/whoami', headers }).end();
  const [{ statusCode }] = await once(sent, 'response');
  console.log(statusCode === 404 ? 200 : statusCode);
  process.exit();`;

/** Reads and writes notes, and asks for another page, as a program and as a person. */
const PROGRAMS = `
  import { startTestIssuer } from '@gatehouse/guard/testing';
  import { startNotes } from './notes.js';
  const issuer = await startTestIssuer();
  const { server } = await startNotes(issuer.guardOptions, 0);
  const url = 'http://127.0.0.1:' + server.address().port;
  for (const program of [{ id: 'editor', scope: 'notes:read' }, undefined]) {
    const headers = { authorization: 'Bearer ' + (await issuer.token({ program })) };
    const ask = async (path, method) => (await fetch(url + path, { method, headers })).status;
    console.log(await ask('/notes'), await ask('/notes', 'POST'), await ask('/'));
  }
  const metadata = await fetch(url + '/.well-known/oauth-protected-resource');
  console.log((await metadata.json()).scopes_supported.join());
  process.exit();`;

/** Joins over long polling, and leaves no poll open as its session ends. */
const POLLING = `
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  import { accessOf, createGuard } from '@gatehouse/guard';
  import { startTestIssuer } from '@gatehouse/guard/testing';
  import { Server } from 'socket.io';
  import { holdSockets } from './hold.js';
  const issuer = await startTestIssuer();
  const guard = createGuard({ ...issuer.guardOptions, log: () => {} });
  await guard.ready();
  const server = createServer();
  guard.upgrade(server);
  const io = new Server(server);
  holdSockets(guard, io);
  server.listen(0);
  await once(server, 'listening');
  const token = await issuer.token({ account: 'ada', sid: 'leaver' });
  const headers = { authorization: 'Bearer ' + token };
  const url = 'http://127.0.0.1:' + server.address().port + '/socket.io/?EIO=4&transport=polling';
  const { sid } = JSON.parse((await (await fetch(url, { headers })).text()).slice(1));
  const joined = once(io, 'connection');
  await fetch(url + '&sid=' + sid, { method: 'POST', headers, body: '40' });
  const [socket] = await joined;
  console.log(accessOf(socket.request).account);
  const left = once(socket, 'disconnect');
  await issuer.endSession('leaver');
  console.log((await left)[0]);
  console.log((await fetch(url + '&sid=' + sid, { headers })).status);
  process.exit();`;

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
    const others = files.filter(
      (name) => !/^(common|core\/(policy|protocol)|packages\/guard)\/.*\.(d\.ts|js)$/.test(name),
    );
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
       await fastify({ http2: true }).register(guard.fastify({ scope: 'notes:read' }));
       app.get('/notes', { onRequest: guard.requireScope('notes:read') }, () => []);
       app.get('/', (request) => accessOf(request)?.account);
       const server = createServer();
       guard.upgrade(server);
       const program = { id: 'editor', scope: 'notes:read' };
       const token = await issuer.token({ account: 'ada', program });
       const access: Access = await guard.verify(token, { scope: 'notes:read' });
       const name: string | undefined = access.program?.name;
       const release: () => void = guard.hold(access, (reason: EndReason) => console.log(reason));
       // @ts-expect-error it needs the resource
       createGuard({ issuer: 'https://gate.example.com' });
       export { release, name };`,
    );
    await write('common.cts', `import { createGuard } from '@gatehouse/guard'; createGuard;`);
    const compilerOptions = {
      ...{ noEmit: true, strict: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    await write(
      'tsconfig.json',
      JSON.stringify({ compilerOptions, files: ['typed.ts', 'common.cts'] }),
    );
    const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
    const { stdout } = await run(compiler, [], { cwd: installed.folder }).catch(
      (failure: { readonly stdout: string }) => failure,
    );
    expect(stdout).toBe('');
  });

  it('runs the examples of its page', async () => {
    const [relay = '', , , test = ''] = examples();
    await linkNodeModules('express', 'ws');
    await write('relay.js', relay);
    await write('test.js', test);
    const { stdout } = await run(process.execPath, ['test.js'], { cwd: installed.folder });
    expect(stdout.split('\n').filter((line) => /^\d/.test(line))).toEqual(['200', '401']);
  });

  it.each([
    ['its page', () => examples()[0]],
    ['docs/protect-a-backend.md', backendOfDocs],
  ])('survives frames and paths that are not valid with the example of %s', async (_page, code) => {
    await linkNodeModules('express', 'ws');
    await write('backend.js', code() ?? '');
    await write('attack.js', ATTACK);
    const { stdout } = await run(process.execPath, ['attack.js'], { cwd: installed.folder });
    const lines = stdout.split('\n').filter((line) => !line.startsWith('gatehouse guard:'));
    expect(lines).toEqual(['hello ada', '1002', '400', '400', '200', '']);
  });

  it('lets programs do what their scopes name with the example of its page', async () => {
    await linkNodeModules('express');
    await write('notes.js', examples()[1] ?? '');
    await write('programs.js', PROGRAMS);
    const { stdout } = await run(process.execPath, ['programs.js'], { cwd: installed.folder });
    const lines = stdout.split('\n').filter((line) => !line.startsWith('gatehouse guard:'));
    expect(lines).toEqual(['200 403 403', '200 201 404', 'notes:read', '']);
  });

  it('disconnects sockets between two polls with the example of its page', async () => {
    await linkNodeModules('socket.io');
    await write('hold.js', examples()[2] ?? '');
    await write('polling.js', POLLING);
    const { stdout } = await run(process.execPath, ['polling.js'], { cwd: installed.folder });
    expect(stdout).toBe('ada\nserver namespace disconnect\n401\n');
  });

  it('works with @fastify/websocket and with inject() of Fastify', async () => {
    // This plugin is no dependency: only this test uses it.
    const flags = ['--no-audit', '--no-fund', '--no-save'];
    await run('npm', ['install', ...flags, '@fastify/websocket@11'], { cwd: installed.folder });
    await linkNodeModules('fastify', 'ws');
    await write(
      'fastify.js',
      `import { once } from 'node:events';
       import websocket from '@fastify/websocket';
       import { accessOf, createGuard } from '@gatehouse/guard';
       import { startTestIssuer } from '@gatehouse/guard/testing';
       import fastify from 'fastify';
       import { WebSocket } from 'ws';
       const issuer = await startTestIssuer();
       const guard = createGuard({ ...issuer.guardOptions, log: () => {} });
       await guard.ready();
       const app = fastify();
       await app.register(guard.fastify());
       await app.register(websocket);
       app.get('/', (request) => accessOf(request).account);
       app.get('/live', { websocket: true }, (socket, request) =>
         socket.send(accessOf(request).account));
       const token = await issuer.token({ account: 'ada', sid: 'leaver' });
       const headers = { authorization: 'Bearer ' + token };
       const answers = [await app.inject({ url: '/', headers }), await app.inject('/')];
       console.log(answers.map(({ statusCode, body }) => statusCode + ' ' + body.slice(0, 17)));
       const url = await app.listen({ port: 0, host: '127.0.0.1' });
       const stranger = new WebSocket(url + '/live', ['relay.v1']);
       const [, answer] = await once(stranger, 'unexpected-response');
       console.log(answer.statusCode);
       stranger.on('error', () => {}).terminate();
       const socket = new WebSocket(url + '/live', ['bearer.' + token, 'relay.v1']);
       const closed = once(socket, 'close');
       console.log((await once(socket, 'message'))[0].toString(), socket.protocol);
       await issuer.endSession('leaver');
       console.log((await closed).map(String).join(' '));
       await Promise.all([app.close(), guard.close()]);
       await issuer.close();`,
    );
    const { stdout } = await run(process.execPath, ['fastify.js'], { cwd: installed.folder });
    expect(stdout.split('\n')).toEqual([
      `[ '200 ada', '401 {"statusCode":401' ]`,
      ...['401', 'ada relay.v1', '4401 session-revoked', ''],
    ]);
  });

  async function linkNodeModules(...names: readonly string[]): Promise<void> {
    const folder = join(installed.folder, 'node_modules');
    await mkdir(folder, { recursive: true });
    for (const name of names) {
      const place = name === 'express' ? 'test/node_modules' : 'node_modules';
      await symlink(join(ROOT, place, name), join(folder, name)).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') {
            throw error;
          }
        },
      );
    }
  }
});
