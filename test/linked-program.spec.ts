import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { asChunk, inAscii } from '../tools/build/linked/chunk.mjs';

const LINKED = join(import.meta.dirname, '../tools/build/linked');
const ENTRY = `
const { greet } = require('./part.cjs');
const { basename } = require('node:path');
process.stdout.write(greet(basename(__filename)));
`;
const PART = `exports.greet = (name) => {
  if (name === 'never') throw new Error('never');
  return 'hello ' + name;
};`;

let bin: string;
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'gatehouse-linked-'));
  cpSync(join(LINKED, 'linked-program.mjs'), join(bin, 'linked-program.js'));
  write('package.json', '{ "type": "module" }');
  write('entry.cjs', asChunk(ENTRY));
  write('part.cjs', asChunk(PART));
  write(
    'program.js',
    "import { runLinked } from './linked-program.js';\nrunLinked('entry.cjs');\n",
  );
});
afterEach(() => rmSync(bin, { recursive: true }));

const write = (name: string, text: string | Buffer): void => writeFileSync(join(bin, name), text);

async function node(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'] },
  });
  return stdout;
}

const record = () => node(join(LINKED, 'record.mjs'), bin, bin, 'program.js');
/** Which chunks ran with compiled code, after what the program wrote. */
const runWithReport = () =>
  node(
    '--input-type=module',
    '--eval',
    `const { chunks } = await import(${JSON.stringify(join(bin, 'linked-program.js'))});
    await import(${JSON.stringify(join(bin, 'program.js'))});
    for (const [name, { script }] of chunks) {
      process.stdout.write(\` \${name}:\${script.cachedDataRejected}\`);
    }`,
  );

describe('a linked program', () => {
  it('runs without compiled code', async () => {
    expect(await node(join(bin, 'program.js'))).toBe('hello entry.cjs');
    expect(await runWithReport()).toBe('hello entry.cjs entry.cjs:undefined part.cjs:undefined');
  });

  it('runs with the code that V8 compiled when it was recorded', async () => {
    expect(await record()).toBe('hello entry.cjs');
    expect(await runWithReport()).toBe('hello entry.cjs entry.cjs:false part.cjs:false');
  });

  it('compiles by itself what is of another version of V8, cut off or of another source', async () => {
    await record();
    const compiled = readFileSync(join(bin, 'part.cjs.compiled'));
    const ofOtherVersion = Buffer.from(compiled);
    ofOtherVersion.writeUInt32LE(ofOtherVersion.readUInt32LE(4) ^ 1, 4);
    for (const other of [ofOtherVersion, compiled.subarray(0, 40), Buffer.alloc(0)]) {
      write('part.cjs.compiled', other);
      expect(await runWithReport()).toBe('hello entry.cjs entry.cjs:false part.cjs:true');
    }
    write('part.cjs.compiled', compiled);
    write('part.cjs', asChunk(PART.replace('hello', 'good day')));
    expect(await runWithReport()).toBe('good day entry.cjs entry.cjs:false part.cjs:true');
  });

  it('names chunk and line where an error was thrown', async () => {
    await record();
    write('entry.cjs', asChunk(ENTRY.replace('basename(__filename)', "'never'")));
    await expect(node(join(bin, 'program.js'))).rejects.toMatchObject({
      stderr: expect.stringMatching(
        /Error: never\n +at \S+ \(dist\/bin\/part\.cjs:2:31\)/,
      ) as string,
    });
  });
});

describe('a chunk', () => {
  it.each([
    "'│ é 🔑'",
    '`…${1}–`',
    "'😀Ж'.replace(/[ÆА-Я]/, 'x')",
    "/^[🔑]$/u.test('🔑')",
    'Object.keys({ clé: 1 })',
    "'\\\\é'",
  ])('is ASCII and means the same: %s', (expression) => {
    const escaped = inAscii(expression);
    expect(escaped).toMatch(/^[\x20-\x7e]+$/);
    expect(runInNewContext(escaped)).toEqual(runInNewContext(expression));
  });

  it.each(['String.raw`é`', "'\\é'"])('refuses what an escape would change: %s', (expression) => {
    expect(() => inAscii(expression)).toThrow('Not to be escaped');
  });
});
