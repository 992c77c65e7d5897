import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isRecord } from '../../../core/protocol/is-record.js';

/** These facts are in the file's name, so that a claim is one rename, which one process wins. */
export interface SpoolName {
  /** Derived from the entry's id. */
  readonly key: string;
  /** Derived from the target, so that a failing target delays no other. */
  readonly target: string;
  /** Unix milliseconds, as is `expiresAt`. */
  readonly dueAt: number;
  readonly expiresAt: number;
  readonly claim: SpoolClaim | null;
}

export interface SpoolClaim {
  readonly owner: string;
  /** Unix milliseconds at which the claim ends. */
  readonly leaseUntil: number;
}

const KEY_LENGTH = 32;
const TARGET_LENGTH = 12;
const NAME =
  /^(?<key>[\da-f]{32})\.(?<target>[\da-f]{12})\.(?<due>\d{1,16})\.(?<expires>\d{1,16})(?:\.(?<owner>[\da-z-]{1,80})\.(?<lease>\d{1,16}))?\.json$/;

export function keyOf(id: string): string {
  return digest(id, KEY_LENGTH);
}

export function targetKeyOf(target: string): string {
  return digest(target, TARGET_LENGTH);
}

export function formatSpoolName({ key, target, dueAt, expiresAt, claim }: SpoolName): string {
  const times = `${Math.max(0, Math.floor(dueAt))}.${Math.max(0, Math.floor(expiresAt))}`;
  const claimed = claim === null ? '' : `.${claim.owner}.${claim.leaseUntil}`;
  return `${key}.${target}.${times}${claimed}.json`;
}

/** Returns null for a name of another form. */
export function parseSpoolName(text: string): SpoolName | null {
  const found = NAME.exec(text)?.groups;
  if (found === undefined) {
    return null;
  }
  const { key = '', target = '', due, expires, owner, lease } = found;
  const claim = owner === undefined ? null : { owner, leaseUntil: Number(lease) };
  return { key, target, dueAt: Number(due), expiresAt: Number(expires), claim };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** Ids of processes are reused, so that the name contains a random part. */
export function ownerOfThisProcess(): string {
  return `${machine()}-${process.pid}-${LIFE}`;
}

/** A process of another machine or container cannot be tested: its lease has to expire. */
export function hasEnded(owner: string): boolean {
  const [where, id, life] = owner.split('-');
  const pid = Number(id);
  if (where !== machine() || !Number.isSafeInteger(pid) || pid <= 0) {
    return false;
  }
  return pid === process.pid ? life !== LIFE : !isRunning(pid);
}

/** Above each lease, and each delay between two attempts: a later time is of a clock that was set back since. */
const LONGEST_DELAY_MS = 2 * 3_600_000;

export function isDue({ dueAt, expiresAt }: SpoolName, now: number): boolean {
  return dueAt <= now || expiresAt <= now || dueAt > now + LONGEST_DELAY_MS;
}

export function isFree({ claim }: SpoolName, now: number): boolean {
  const isOver = claim === null || claim.leaseUntil <= now;
  return isOver || claim.leaseUntil > now + LONGEST_DELAY_MS || hasEnded(claim.owner);
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
