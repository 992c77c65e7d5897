import type { ChainRow } from '../chain-fixture.js';
import { ENCODINGS } from './encodings.js';
import { LENGTHS, NAMES, PATHS } from './paths.js';
import { SOUND, TIMES } from './sound.js';
import { CONSTRAINTS, KEY_IDS, STRENGTH } from './strictness.js';
import { CRITICAL, USAGES } from './usages.js';

export const CHAINS: readonly ChainRow[] = [
  ...SOUND,
  ...TIMES,
  ...USAGES,
  ...CRITICAL,
  ...LENGTHS,
  ...NAMES,
  ...PATHS,
  ...STRENGTH,
  ...KEY_IDS,
  ...CONSTRAINTS,
  ...ENCODINGS,
];
