import { createHmac, timingSafeEqual } from 'node:crypto';

/** A refresh token as its text claims to be: its seal is not verified. */
interface ReadRefreshToken {
  /** The id of its grant. */
  readonly grantId: string;
  readonly generation: number;
  readonly seal: Buffer;
}

const ID_BYTES = 16;
const SEAL_AT = ID_BYTES + 4;
const BYTES = SEAL_AT + 32;

/** A superseded token gets the newest one for so long: programs race, and keep old ones for minutes. */
const GRACE_MS = 60 * 60_000;
/** A newer token replaces the current one only then, which bounds what is kept of an hour. */
const SHORTEST_LIFE_MS = 60_000;

/** Returns the same token for the same grant and generation: it is stored nowhere. */
export function refreshTokenOf(key: Buffer, grantId: string, generation: number): string {
  const head = headOf(grantId, generation);
  return Buffer.concat([head, sealOf(key, head)]).toString('base64url');
}

/** @returns null for any other text */
export function readRefreshToken(text: string): ReadRefreshToken | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== BYTES || bytes.toString('base64url') !== text) {
    return null;
  }
  const hex = bytes.toString('hex', 0, ID_BYTES);
  const grantId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { grantId, generation: bytes.readUInt32BE(ID_BYTES), seal: bytes.subarray(SEAL_AT) };
}

export function isSealedBy(key: Buffer, { grantId, generation, seal }: ReadRefreshToken): boolean {
  return timingSafeEqual(seal, sealOf(key, headOf(grantId, generation)));
}

/** The newest token of a grant. Times are Unix milliseconds. */
interface RefreshState {
  readonly generation: number;
  /** When the last tokens before it were superseded, the oldest first. */
  readonly supersededAt: readonly number[];
}

/**
 * Judges a token that its grant has sealed (RFC 9700, 4.14.2).
 * @returns the next state, which may be the same one; null for a token that was superseded too long
 *   ago: two holders have it, and the grant ends
 */
export function nextState(
  presented: number,
  { generation, supersededAt }: RefreshState,
  issuedAt: number,
  now: number,
): RefreshState | null {
  const kept = supersededAt.filter((at) => now - at <= GRACE_MS);
  if (presented === generation) {
    const latest = supersededAt.at(-1) ?? issuedAt;
    return now - latest < SHORTEST_LIFE_MS
      ? { generation, supersededAt: kept }
      : { generation: generation + 1, supersededAt: [...kept, now] };
  }
  // `kept` has the times of the newest generations before the current one.
  const isRecent = presented < generation && generation - presented <= kept.length;
  return isRecent ? { generation, supersededAt: kept } : null;
}

function headOf(grantId: string, generation: number): Buffer {
  const head = Buffer.alloc(SEAL_AT);
  head.write(grantId.replaceAll('-', ''), 'hex');
  head.writeUInt32BE(generation, ID_BYTES);
  return head;
}

function sealOf(key: Buffer, head: Buffer): Buffer {
  return createHmac('sha256', key).update('refresh-token').update(head).digest();
}
