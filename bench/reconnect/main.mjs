/**
 * Thousands of sockets that reconnect at once, after the server was killed and after an outage of the
 * database: npm run bench:reconnect -- [--sockets 10000] [--outage 10] [--dist dist] [--json FILE]
 */
import { parseArgs } from 'node:util';
import { markdownTable } from '../report.mjs';
import { runGroups } from '../run.mjs';
import { group } from './group.mjs';

/** A run that takes longer has failed. */
const DEADLINE_MS = 600_000;

const { values: options } = parseArgs({
  options: {
    sockets: { type: 'string', default: '10000' },
    outage: { type: 'string', default: '10' },
    dist: { type: 'string', default: 'dist' },
    json: { type: 'string' },
  },
});

await runGroups([group], options, {
  settings: { sockets: Number(options.sockets), outageSeconds: Number(options.outage) },
  howOften: `${options.sockets} sockets of as many accounts, each case once`,
  deadlineMs: DEADLINE_MS,
  print: markdownTable,
});
