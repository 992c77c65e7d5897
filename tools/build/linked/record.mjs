import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import v8 from 'node:v8';

// node record.mjs BIN INTO PROGRAM [ARGUMENT …]
// Runs a program of the folder BIN, and writes what V8 had compiled of its chunks when it ended to the folder INTO.
const [, , bin, into, program, ...args] = process.argv;
process.argv = [process.argv[0], join(bin, program), ...args];
const { chunks } = await import(join(bin, 'linked-program.js'));

// Compiled code serves a start with the flags that hold as it is written: a program that sets one must not here.
v8.setFlagsFromString = () => {};

process.on('exit', () => {
  for (const [name, { script }] of chunks) {
    writeFileSync(join(into, `${name}.compiled`), script.createCachedData());
  }
});
await import(join(bin, program));
