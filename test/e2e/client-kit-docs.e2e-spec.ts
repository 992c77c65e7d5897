import { createContext, runInContext } from 'node:vm';
import { WebSocket } from 'undici';
import { bundleClient } from '../helpers/client-bundle.js';
import { KIT_OUTPUT, KIT_SECTIONS, kitProgram } from '../helpers/documented-kit.js';
import { type Server, startServer } from '../helpers/server.js';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

describe('docs/client-kit.md', () => {
  it('says what its program prints', () => {
    KIT_OUTPUT.forEach((line) => expect(KIT_SECTIONS).toContain(line));
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
