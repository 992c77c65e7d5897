import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isRecord } from '../../client/is-record.js';

/**
 * What is known of a waiting entry from the name of its file alone, so that what is due is found
 * without reading anything and a claim is one rename: of several processes that rename the same
 * name, one succeeds.
 */
export interface SpoolName {
  /** Of the entry's id: the same id is always the same key. */
  readonly key: string;
  /** Entries of one lane go to one target: a target that is stuck holds up its own lane only. */
  readonly lane: string;
  /** Unix milliseconds, as is `expiresAt`. */
  readonly dueAt: number;
  readonly expiresAt: number;
  readonly claim: SpoolClaim | null;
}

export interface SpoolClaim {
  readonly owner: string;
  /** Unix milliseconds: from then on the claim counts for nothing. */
  readonly leaseUntil: number;
}

const KEY_LENGTH = 32;
const LANE_LENGTH = 12;
const NAME =
  /^(?<key>[\da-f]{32})\.(?<lane>[\da-f]{12})\.(?<due>\d{1,16})\.(?<expires>\d{1,16})(?:\.(?<owner>[\da-z-]{1,80})\.(?<lease>\d{1,16}))?\.json$/;

/** The part of a file's name that stands for an id. */
export function keyOf(id: string): string {
  return digest(id, KEY_LENGTH);
}

/** The part of a file's name that stands for a target. */
export function laneOf(target: string): string {
  return digest(target, LANE_LENGTH);
}

export function formatSpoolName({ key, lane, dueAt, expiresAt, claim }: SpoolName): string {
  const times = `${Math.max(0, Math.floor(dueAt))}.${Math.max(0, Math.floor(expiresAt))}`;
  const claimed = claim === null ? '' : `.${claim.owner}.${claim.leaseUntil}`;
  return `${key}.${lane}.${times}${claimed}.json`;
}

/** Reads a name; null when it is none of the spool's. */
export function parseSpoolName(text: string): SpoolName | null {
  const found = NAME.exec(text)?.groups;
  if (found === undefined) {
    return null;
  }
  const { key = '', lane = '', due, expires, owner, lease } = found;
  const claim = owner === undefined ? null : { owner, leaseUntil: Number(lease) };
  return { key, lane, dueAt: Number(due), expiresAt: Number(expires), claim };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

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
  return digest(hostname(), 8);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(isRecord(error) && error['code'] === 'ESRCH');
  }
}
