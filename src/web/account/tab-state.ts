import { readOAuthReturn, type OAuthReturn } from '../../client/api/oauth-return.js';
import { isRecord } from '../../client/is-record.js';

/** The session of this tab; closing the tab discards it. */
export interface Session {
  readonly token: string;
  readonly accountId: string;
}

/** A sign-in or a link that this tab started and that the provider returns to. */
export interface PendingFlow {
  readonly provider: string;
  /** The secret whose hash the server has; null where there is none. */
  readonly proof: string | null;
}

/** The provider id of a sign-in with a certificate. */
export const CERTIFICATE = 'mtls';

/** How this page was opened. */
export type Arrival =
  | { readonly kind: 'opened' }
  /** From a sign-in with a certificate: with the code to claim, or with an error. */
  | {
      readonly kind: 'certificate';
      readonly code: string | null;
      readonly error: string;
      /** What this tab started the sign-in with. */
      readonly proof: string;
    }
  | {
      readonly kind: 'returned';
      readonly provider: string;
      readonly answer: OAuthReturn;
      /** What this tab started with the provider; null = another tab did. */
      readonly flow: PendingFlow | null;
    };

const SESSION = 'gatehouse.session';
const PENDING_FLOW = 'gatehouse.begun';

export function saveSession({ token, accountId }: Session): void {
  sessionStorage.setItem(SESSION, JSON.stringify({ token, accountId }));
}

export function removeSession(): void {
  sessionStorage.removeItem(SESSION);
}

export function savedSession(): Session | null {
  const { token, accountId } = read(SESSION);
  return typeof token === 'string' && typeof accountId === 'string' ? { token, accountId } : null;
}

export function savePendingFlow(flow: PendingFlow): void {
  sessionStorage.setItem(PENDING_FLOW, JSON.stringify(flow));
}

/** Reads the address and removes the answer from it: an answer can be used once. */
export function takeArrival(): Arrival {
  const address = new URL(location.href);
  history.replaceState(null, '', document.baseURI);
  const provider = /\/oauth\/([^/]+)\/?$/.exec(address.pathname)?.[1];
  return provider === undefined ? fromCertificate(address) : fromProvider(provider, address.href);
}

function fromProvider(provider: string, address: string): Arrival {
  const answer = readOAuthReturn(address);
  if (answer === null) {
    return { kind: 'opened' };
  }
  const flow = takePendingFlow();
  const isOwn = flow?.provider === provider;
  return { kind: 'returned', provider, answer, flow: isOwn ? flow : null };
}

/** A code that this tab did not ask for is ignored: it may sign in to another person's account. */
function fromCertificate({ searchParams }: URL): Arrival {
  const [code, error] = [searchParams.get('code'), searchParams.get('error')];
  const flow = code === null && error === null ? null : takePendingFlow();
  return flow?.provider === CERTIFICATE
    ? { kind: 'certificate', code, error: error ?? '', proof: flow.proof ?? '' }
    : { kind: 'opened' };
}

function takePendingFlow(): PendingFlow | null {
  const { provider, proof } = read(PENDING_FLOW);
  sessionStorage.removeItem(PENDING_FLOW);
  return typeof provider === 'string'
    ? { provider, proof: typeof proof === 'string' ? proof : null }
    : null;
}

function read(name: string): Record<string, unknown> {
  try {
    const saved: unknown = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    return isRecord(saved) ? saved : {};
  } catch {
    return {};
  }
}
