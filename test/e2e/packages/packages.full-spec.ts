import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import type { Browser } from 'playwright-core';
import { publint } from 'publint';
import { signatureHeaders } from '../../../src/packages/notify/webhook/webhook-signature.js';
import { inChromium, startChromium, visitWith } from '../../fixtures/programs/browser-fixture.js';
import { KIT_OUTPUT, kitProgram } from '../../helpers/documented-kit.js';
import {
  hasRegistry,
  installPacked,
  run,
  runtimes,
  type Installed,
} from '../../fixtures/programs/packages-fixture.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const KITS = ['client', 'notify', 'webhooks'] as const;
/** Resolutions that find CommonJS only. */
const NO_ES_MODULES: readonly string[] = ['node10', 'node16-cjs'];
const SECRET = randomBytes(24).toString('base64');
const BODY = JSON.stringify({
  channelId: 'channel-1',
  createdAt: 1_760_000_000_000,
  topic: 'ready',
  content: { title: 'Ready: ☕', body: '' },
  session: { sessionId: 's', title: '' },
  request: null,
  metadata: {},
});

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);

const exampleOf = (kit: string): string => {
  const page = readFileSync(join(ROOT, 'tools/packages', kit, 'README.md'), 'utf8');
  return /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
};

/** Runtimes differ in the lines and quotes of printed values. */
const plain = (text: string): string => text.replace(/[\s'"]/g, '').replace(/,([}\]])/g, '$1');

(hasRegistry() ? describe : describe.skip)('The packages', () => {
  let server: Server;
  let installed: Installed;
  let commands: Awaited<ReturnType<typeof runtimes>>;

  const manifestOf = async (kit: string): Promise<Manifest> =>
    JSON.parse(
      await readFile(
        join(installed.folder, 'node_modules/@gatehouse', kit, 'package.json'),
        'utf8',
      ),
    ) as Manifest;
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(installed.folder, name), text);
  const start = async (runtime: keyof typeof commands, ...args: string[]): Promise<string> => {
    const [program = '', ...flags] = commands[runtime];
    const { stdout } = await run(program, [...flags, ...args], { cwd: installed.folder });
    return stdout;
  };

  const bundle = async (options: object): Promise<void> => {
    const config = { logLevel: 'error', build: { target: 'es2022', minify: true, ...options } };
    await write('vite.config.mjs', `export default ${JSON.stringify(config)};`);
    await run(bin('vite'), ['build'], { cwd: installed.folder });
  };

  beforeAll(async () => {
    server = await startServer();
    installed = await installPacked(KITS);
    commands = await runtimes();
  });

  afterAll(async () => {
    await server.stop();
    await installed.remove();
  });

  it('contains programs, declarations, a page and the licence, and depends on what it imports', async () => {
    const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    for (const [index, kit] of KITS.entries()) {
      const files = installed.packages[index]?.files ?? [];
      const others = files.filter((name) => !/^(common|core|packages)\/.*\.(d\.ts|js)$/.test(name));
      expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
      const { version, dependencies } = await manifestOf(kit);
      expect(version).toBe(project.version);
      expect(project.dependencies).toMatchObject(dependencies);
      await write('import.mjs', `import '@gatehouse/${kit}';`);
      await start('node', 'import.mjs');
    }
    const { dependencies } = await manifestOf('webhooks');
    expect(Object.keys(dependencies)).toEqual(['@scure/base', 'valibot']);
  });

  it.each(KITS)('resolves %s for every tool that reads ES modules', async (kit) => {
    const tarball = installed.packages[KITS.indexOf(kit)]?.tarball ?? '';
    const bytes = Uint8Array.from(await readFile(tarball));
    const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    expect(messages).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(bytes));
    expect(analysis).toMatchObject({ types: { kind: 'included' } });
    const problems = analysis.types === false ? [] : analysis.problems;
    const ofEsModules = problems.filter(
      (problem) => !('resolutionKind' in problem && NO_ES_MODULES.includes(problem.resolutionKind)),
    );
    expect(ofEsModules).toEqual([]);
  });

  it('declares types that compile without those of the server', async () => {
    await write(
      'typed.ts',
      `import { GatehouseClient, routeNotification, type AuthMethod } from '@gatehouse/client';
       import { verify, type WebhookPayload } from '@gatehouse/webhooks';
       const method: AuthMethod = { method: 'key_challenge', action: 'login', mode: 'keyed' };
       const client = new GatehouseClient({ serverUrl: 'http://127.0.0.1:3000' });
       const tokens: Promise<readonly { token: string }[]> = client.pushTokens();
       const topic: WebhookPayload['topic'] = verify(new Headers(), '', 'secret').payload.topic;
       // @ts-expect-error it needs the serverUrl
       new GatehouseClient({});
       export { method, routeNotification, tokens, topic };`,
    );
    await write(
      'sender.ts',
      `import { AccountContent } from '@gatehouse/client';
       import { notify, openSettings, type Senders } from '@gatehouse/notify';
       declare const senders: Senders;
       const key = new AccountContent(new Uint8Array(32), 'account');
       const settings = openSettings({ t: 'encrypted', c: '' }, key);
       export const sent = notify({} as Parameters<typeof notify>[0], { settings, tokens: [] }, senders);`,
    );
    const imports = KITS.map((kit) => `import * as ${kit} from '@gatehouse/${kit}';`);
    await write('common.cts', `${imports.join('\n')}\n[${KITS.join()}];`);
    const compile = async (compiler: string, files: string[], more: object): Promise<void> => {
      const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2022' };
      const project = { compilerOptions: { ...compilerOptions, ...more }, files };
      await write('tsconfig.json', JSON.stringify(project));
      const program = join(ROOT, compiler, 'bin/tsc');
      const { stdout } = await run(program, [], { cwd: installed.folder }).catch(
        (failure: { readonly stdout: string }) => failure,
      );
      expect(stdout).toBe('');
    };
    const lib = ['es2022', 'dom'];
    // The check reads the declarations of the dependencies too, in a fifth of the time of version
    // 6.
    await compile('node_modules/typescript-7', ['typed.ts'], { lib, types: [] });
    await compile('test/node_modules/typescript', ['typed.ts'], {
      lib,
      types: [],
      skipLibCheck: true,
    });
    const common = { module: 'node20', types: ['node'], skipLibCheck: true };
    const typeRoots = [join(ROOT, 'node_modules/@types')];
    await compile('node_modules/typescript-7', ['sender.ts'], {
      types: ['node'],
      typeRoots,
      skipLibCheck: true,
    });
    await compile('node_modules/typescript-7', ['common.cts'], { ...common, typeRoots });
  });

  it.each(['node', 'bun', 'deno'] as const)('runs in %s', async (runtime) => {
    await write(`${runtime}-kit.mjs`, kitProgram(server.url));
    expect(plain(await start(runtime, `${runtime}-kit.mjs`))).toBe(plain(KIT_OUTPUT.join('')));

    await write('receive.mjs', exampleOf('webhooks'));
    const timestamp = Math.floor(Date.now() / 1000);
    const rawBody = Buffer.from(BODY);
    const headers = signatureHeaders({ id: 'msg_1', timestamp, rawBody }, [SECRET]);
    await write(
      'receiver.mjs',
      `import { receive } from './receive.mjs';
       const { headers, body, secret } = JSON.parse(process.argv[2]);
       const request = () => new Request('http://here.example', { method: 'POST', headers, body });
       console.log((await receive(request(), secret)).status, (await receive(request(), 'other')).status);`,
    );
    const delivery = JSON.stringify({ headers, body: BODY, secret: SECRET });
    expect(await start(runtime, 'receiver.mjs', delivery)).toBe('msg_1 ready Ready: ☕\n204 401\n');
  });

  it('runs the example of the page of the client kit', async () => {
    await write('client.mjs', exampleOf('client').replace('http://127.0.0.1:3000', server.url));
    expect(await start('node', 'client.mjs')).toBe("[ 'my-push-token' ]\n");
  });

  it('sends deliveries that the documented receiver verifies', async () => {
    await write('receive.mjs', exampleOf('webhooks'));
    // The webhook of this test is on this computer.
    const permitting = "new WebhookSender({ privateHosts: ['127.0.0.1'] })";
    await write('notify.mjs', exampleOf('notify').replace('new WebhookSender()', permitting));
    await write(
      'send.mjs',
      `import { createServer } from 'node:http';
       import { notifyReady } from './notify.mjs';
       import { receive } from './receive.mjs';
       const server = createServer(async (incoming, response) => {
         const body = Buffer.concat(await incoming.toArray());
         const { headers, method } = incoming;
         const answer = await receive(new Request('http://here.example', { method, headers, body }), '${SECRET}');
         response.writeHead(answer.status).end();
       });
       server.listen(0, '127.0.0.1', async () => {
         const url = \`http://127.0.0.1:\${server.address().port}/\`;
         const channel = { id: 'here', url, signingSecret: '${SECRET}' };
         const outcomes = await notifyReady({ settings: { notificationChannelsV1: [channel] }, tokens: [] });
         console.log(outcomes.map(({ state }) => state).join());
         server.close();
       });`,
    );
    expect(await start('node', 'send.mjs')).toMatch(
      /^msg_\S+ ready .*Fix the build\nno-target,sent\n$/,
    );
  });

  it('sends no commands unless the variable switches request previews on', async () => {
    await write(
      'previews.mjs',
      `import { planNotification, readEvent, readPreferences } from '@gatehouse/notify';
       const request = { requestId: 'r1', toolName: 'Bash', details: { command: 'rm -rf build' } };
       const event = { topic: 'permission_request', serverUrl: 'https://gate.example', session: { sessionId: 's' }, request };
       const settings = { notificationChannelsV1: [{ id: 'one', url: 'https://hooks.example/' }] };
       const options = { now: Date.now(), ...JSON.parse(process.argv[2]) };
       const plan = planNotification(readEvent(event, options.now), readPreferences(settings), [], options);
       const { content, request: shown } = JSON.parse(plan.deliveries[0].body);
       console.log(JSON.stringify([content.body, shown.requestId, shown.toolDetails]));`,
    );
    const printed = async (variables: object, options: object): Promise<unknown> => {
      const env = { PATH: process.env['PATH'], ...variables };
      const args = ['previews.mjs', JSON.stringify(options)];
      const { stdout } = await run(process.execPath, args, { cwd: installed.folder, env });
      return JSON.parse(stdout);
    };
    const generic = ['Something needs your permission to go on.', 'r1', null];
    const detailed = ['Bash needs your permission: rm -rf build', 'r1', 'Command: rm -rf build'];
    expect(await printed({}, {})).toEqual(generic);
    expect(await printed({ NODE_ENV: 'development' }, {})).toEqual(generic);
    expect(await printed({ CLIENT_PUBLIC_REQUEST_PREVIEWS: '1' }, {})).toEqual(detailed);
    expect(await printed({}, { requestPreviews: true })).toEqual(detailed);
  });

  it('costs an app that only routes notifications less than 2 kB', async () => {
    await write(
      'routing.js',
      `export { readNotificationTarget, routeNotification } from '@gatehouse/client';`,
    );
    await bundle({
      outDir: 'routing',
      lib: { entry: 'routing.js', formats: ['es'], fileName: 'routing' },
    });
    const code = await readFile(join(installed.folder, 'routing/routing.js'));
    expect(code.toString()).toContain('permission_request');
    expect(gzipSync(code).length).toBeLessThan(2000);
  });

  inChromium('in a browser', () => {
    let browser: Browser;
    let files: HttpServer;

    beforeAll(async () => {
      const program = kitProgram(server.url).replaceAll('console.log(', 'print(');
      await write('index.html', '<!doctype html><pre></pre><script type="module" src="/app.js">');
      await write(
        'app.js',
        `const print = (...words) => {
           const texts = words.map((word) => (typeof word === 'object' ? JSON.stringify(word) : String(word)));
           document.querySelector('pre').append(texts.join(' ') + '\\n');
         };\n${program.replace(/^(import.*?;)$/ms, '')}`.replace(
          /^/,
          /^import.*?;$/ms.exec(program)?.[0] ?? '',
        ),
      );
      await bundle({ outDir: 'app' });
      const types = { html: 'text/html', js: 'text/javascript' };
      files = createServer((request, response) => {
        const name = request.url === '/' ? '/index.html' : (request.url ?? '');
        const type = name.endsWith('.html') ? types.html : types.js;
        readFile(join(installed.folder, 'app', name)).then(
          (body) => response.writeHead(200, { 'content-type': type }).end(body),
          () => response.writeHead(404).end(),
        );
      }).listen(0, '127.0.0.1');
      browser = await startChromium();
    });

    afterAll(async () => {
      await browser.close();
      await promisify(files.close.bind(files))();
    });

    it('runs in a bundle of Vite', async () => {
      const { port } = files.address() as AddressInfo;
      const page = await visitWith(browser, `http://127.0.0.1:${port}/`);
      await waitFor('the program ends', async () => (await page.text()).includes('stopped:'));
      expect(plain(await page.text())).toBe(plain(KIT_OUTPUT.join('')));
      expect(page.browserErrors).toEqual([]);
    });
  });
});
