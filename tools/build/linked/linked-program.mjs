import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

// V8 inlines little more than half as much as by default (920): what it optimizes is as fast, and while the first
// thousands of clients connect it takes a tenth less processor time (ADR 9). Before anything is compiled, because
// V8 refuses code that was compiled with other flags.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=550');

const FOLDER = import.meta.dirname;
const requirePackage = createRequire(import.meta.url);
const require = Object.assign(
  (name) => (name.startsWith('./') ? load(name.slice(2)) : requirePackage(name)),
  requirePackage,
);

/** What has been read, by the names of the chunks; the build takes the compiled code from here. */
export const chunks = new Map();

/**
 * Runs a linked program (docs/adr/0009-linked-programs.md) with the code that V8 compiled when it was built:
 * to compile four megabytes again takes longer than everything else a start does. Without that code, and
 * with that of another version of Node, V8 compiles as always.
 *
 * @param {string} entry the name of a chunk in this folder
 */
export function runLinked(entry) {
  load(entry);
}

function load(name) {
  const known = chunks.get(name);
  if (known) {
    return known.module.exports;
  }
  const file = join(FOLDER, name);
  const script = new Script(readFileSync(file, 'latin1'), {
    // Compiled code keeps the name that it was given at the build.
    filename: `dist/bin/${name}`,
    cachedData: compiledCode(`${file}.compiled`),
  });
  const module = { exports: {} };
  chunks.set(name, { module, script });
  const run = script.runInThisContext();
  run.call(module.exports, module.exports, require, module, file, FOLDER);
  return module.exports;
}

function compiledCode(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
