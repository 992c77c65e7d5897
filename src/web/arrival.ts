import { readOAuthReturn, type OAuthReturn } from '../client/oauth-return.js';
import { takeBegun, type Begun } from './tab-memory.js';

/** Of a sign-in with a certificate, where other providers have an id of their own. */
export const CERTIFICATE = 'mtls';

/** How this page came to be opened. */
export type Arrival =
  | { readonly kind: 'opened' }
  /** With what a sign-in with a certificate brought: the code that is claimed, or an error. */
  | {
      readonly kind: 'certificate';
      readonly code: string | null;
      readonly error: string;
      /** What this tab began the sign-in with. */
      readonly proof: string;
    }
  | {
      readonly kind: 'returned';
      readonly provider: string;
      readonly answer: OAuthReturn;
      /** What this tab began with the provider; null = another one did. */
      readonly begun: Begun | null;
    };

/** Reads the address, and leaves the plain one in its place: an answer in it is good for once. */
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
  const begun = takeBegun();
  const isOwn = begun?.provider === provider;
  return { kind: 'returned', provider, answer, begun: isOwn ? begun : null };
}

/** What this tab did not begin is left alone: the code may be of somebody else. */
function fromCertificate({ searchParams }: URL): Arrival {
  const [code, error] = [searchParams.get('code'), searchParams.get('error')];
  const begun = code === null && error === null ? null : takeBegun();
  return begun?.provider === CERTIFICATE
    ? { kind: 'certificate', code, error: error ?? '', proof: begun.proof ?? '' }
    : { kind: 'opened' };
}
