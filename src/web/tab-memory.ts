import { isRecord } from '../client/problem.js';

/** Who is signed in, in this tab: closing it forgets. */
export interface Session {
  readonly token: string;
  readonly accountId: string;
}

/** A sign-in or a link that was begun here and comes back from the provider. */
export interface Begun {
  readonly provider: string;
  /** The secret half of what the server was given; null where there is none. */
  readonly proof: string | null;
}

const SESSION = 'gatehouse.session';
const BEGUN = 'gatehouse.begun';

export function rememberSession({ token, accountId }: Session): void {
  sessionStorage.setItem(SESSION, JSON.stringify({ token, accountId }));
}

export function forgetSession(): void {
  sessionStorage.removeItem(SESSION);
}

export function rememberedSession(): Session | null {
  const { token, accountId } = read(SESSION);
  return typeof token === 'string' && typeof accountId === 'string' ? { token, accountId } : null;
}

export function rememberBegun(begun: Begun): void {
  sessionStorage.setItem(BEGUN, JSON.stringify(begun));
}

/** Takes it: an answer of the provider is good for once. */
export function takeBegun(): Begun | null {
  const { provider, proof } = read(BEGUN);
  sessionStorage.removeItem(BEGUN);
  return typeof provider === 'string'
    ? { provider, proof: typeof proof === 'string' ? proof : null }
    : null;
}

function read(name: string): Record<string, unknown> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    return isRecord(kept) ? kept : {};
  } catch {
    return {};
  }
}
