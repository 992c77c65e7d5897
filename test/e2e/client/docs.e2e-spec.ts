import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { WebSocket } from 'undici';
import { deviceKeyWords } from '../../../src/core/protocol/device-words.js';
import { bundleClient } from '../../helpers/client-bundle.js';
import { KIT_OUTPUT, KIT_SECTIONS, kitProgram } from '../../helpers/documented-kit.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const run = promisify(execFile);
const server = await startServer();

afterAll(() => server.stop());

describe('docs/connect-a-client.md', () => {
  const page = readFileSync(new URL('../../../docs/connect-a-client.md', import.meta.url), 'utf8');

  it('has examples that run in order, and prints the answers that it shows', async () => {
    const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block);
    const program = blocks.join('').replace('http://127.0.0.1:3000', server.url);
    const { stdout } = await run(process.execPath, [...['--input-type=module', '--eval', program]]);
    const [, settings = ''] = /merged\n```\n\n```\n(.*?)```/s.exec(page) ?? [];
    expect(settings).toContain('version-mismatch');
    // Updates are printed between the answers.
    settings
      .trim()
      .split('\n')
      .forEach((line) => expect(stdout).toContain(`${line}\n`));
    expect(stdout).toMatch(/state: 'approved'[^]*'token-revoked'/);
  });

  it('shows the check words of its example', () => {
    const publicKey = Buffer.alloc(32).toString('base64url');
    const words = deviceKeyWords({ publicKey, origins: ['https://gate.example.org'] });
    expect(page).toContain(`\`${words.join(' ')}\``);
  });
});

describe('docs/client-kit.md', () => {
  it('shows the output that its program prints', () => {
    KIT_OUTPUT.forEach((line) => expect(KIT_SECTIONS).toContain(line));
  });

  it('runs from a bundle with the features of a browser only', async () => {
    const { script } = await bundleClient();
    const { URL, URLSearchParams, TextEncoder, TextDecoder, crypto, fetch, AbortController } =
      globalThis;
    const lines: string[] = [];
    const ended = new Promise<void>((done) => {
      const log = (...words: unknown[]): void => {
        lines.push(words.map((word) => (typeof word === 'object' ? '{}' : String(word))).join(' '));
        if (words[0] === 'stopped:') {
          done();
        }
      };
      const context = createContext({
        ...{ URL, URLSearchParams, TextEncoder, TextDecoder, crypto, fetch, AbortController },
        ...{ WebSocket, atob, btoa, setTimeout, clearTimeout, console: { log } },
      });
      runInContext(script, context);
      const body = kitProgram(server.url).replace(
        /import \{(.*?)\} from '@gatehouse\/client'/s,
        'const {$1} = gatehouse',
      );
      runInContext(`(async () => {${body}})().catch((e) => console.log('stopped:', e))`, context);
    });
    await ended;
    expect(lines).toEqual(KIT_OUTPUT.map((line) => (/^[[{]/.test(line) ? '{}' : line)));
  });
});
