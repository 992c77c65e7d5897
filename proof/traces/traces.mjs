import { join } from 'node:path';
import { SCHEDULES } from '../search/models.mjs';
import { quint } from '../search/quint.mjs';

const STEPS = 30;

/** Writes traces of the model that can be replayed. The same seed writes the same ones. */
export function writeTraces({ directory, count, seed }) {
  quint([
    ...['run', '--mbt', '--backend', 'typescript', '--main', 'replayed'],
    ...['--init', 'begin', '--step', 'replay'],
    ...['--max-samples', String(count), '--n-traces', String(count), '--max-steps', String(STEPS)],
    ...['--invariant', 'invariants', '--seed', seed, '--verbosity', '1'],
    ...['--out-itf', join(directory, '{seq}.itf.json'), SCHEDULES],
  ]);
}
