// Loaded into a replica by `node --import`: each SIGUSR2 steps its wall clock, ahead and back in turn.

/** Longer than the bounds, and shorter than the life of all that is single use. */
const STEP_MS = 20_000;

const read = Date.now;
let aheadMs = 0;
Date.now = () => read() + aheadMs;
process.on('SIGUSR2', () => (aheadMs = STEP_MS - aheadMs));
