import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { WebSocket } from 'undici';
import { bundleClient } from '../helpers/client-bundle.js';
import { type Server, startServer } from '../helpers/server.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

describe('docs/client-kit.md', () => {
  const page = readFileSync(join(ROOT, 'docs/client-kit.md'), 'utf8');
  const [program = '', afterwards] = page.split('## Log in through a provider');
  const code = [...program.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block).join('');
  const said = [
    '{ canLogIn: true, canSignUp: true }',
    'true keyed',
    "[ 'my-push-token' ]",
    '{ success: true, version: 1 }',
    'version-mismatch',
    'e2ee',
    'the account is at 2',
    'update 3 push-tokens-changed',
    'stopped: token-revoked after 3',
  ];

  it('says what its program prints', () => {
    expect(afterwards).toBeDefined();
    said.forEach((line) => expect(program).toContain(line));
  });

  it('runs in Node, from the package', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kit-'));
    try {
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(ROOT, join(folder, 'node_modules/gatehouse'));
      const file = join(folder, 'program.mjs');
      writeFileSync(file, code.replace('http://127.0.0.1:3000', server.url));
      const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const [status] = (await once(child, 'close')) as [number];
      expect({ status, lines: output.trim().split('\n') }).toEqual({ status: 0, lines: said });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('runs from a bundle, with what a browser has', async () => {
    const { script } = await bundleClient();
    const { URL, URLSearchParams, TextEncoder, crypto, fetch, AbortController } = globalThis;
    const lines: string[] = [];
    const ended = new Promise<void>((done) => {
      const log = (...words: unknown[]): void => {
        lines.push(words.map((word) => (typeof word === 'object' ? '{}' : String(word))).join(' '));
        if (words[0] === 'stopped:') {
          done();
        }
      };
      const context = createContext({
        ...{ URL, URLSearchParams, TextEncoder, crypto, fetch, AbortController, WebSocket },
        ...{ atob, btoa, setTimeout, clearTimeout, console: { log } },
      });
      runInContext(script, context);
      const body = code
        .replace(/import \{(.*?)\} from 'gatehouse\/client'/s, 'const {$1} = gatehouse')
        .replace('http://127.0.0.1:3000', server.url);
      runInContext(`(async () => {${body}})().catch((e) => console.log('stopped:', e))`, context);
    });
    await ended;
    expect(lines).toEqual(said.map((line) => (/^[[{]/.test(line) ? '{}' : line)));
  });
});
