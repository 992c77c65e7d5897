import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isRecord } from '../client/problem.js';

/** Names a process in claims: its machine, its id there, and which life of that id it is. */
export function ownerOfThisProcess(): string {
  return `${machine()}-${process.pid}-${LIFE}`;
}

/**
 * Whether the process that made a claim has certainly ended. A process of another machine, or of
 * another container on the same directory, cannot be asked after: its lease has to run out.
 */
export function hasEnded(owner: string): boolean {
  const [where, id, life] = owner.split('-');
  const pid = Number(id);
  if (where !== machine() || !Number.isSafeInteger(pid) || pid <= 0) {
    return false;
  }
  return pid === process.pid ? life !== LIFE : !isRunning(pid);
}

const LIFE = randomBytes(4).toString('hex');

function machine(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(isRecord(error) && error['code'] === 'ESRCH');
  }
}
