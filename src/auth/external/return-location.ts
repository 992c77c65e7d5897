import type { Settings } from '../../config/settings.js';
import type { AuthMode } from '../../policy/auth-methods.js';
import { returnAddressFor } from '../../policy/return-address.js';
import type { AccountMode, StoragePolicy } from '../../policy/storage-policy.js';

/** What the client is told at the return address (contract, External providers). */
export interface ReturnQuery {
  readonly flow: 'auth' | 'connect';
  readonly error?: string;
  readonly pending?: string;
  readonly mode?: AuthMode;
  readonly storagePolicy?: StoragePolicy;
  readonly accountMode?: AccountMode;
  readonly provisioning?: 'required';
  readonly provisioningModes?: string;
}

/** Where browsers return for this provider, as the operator set it; null when nobody did. */
export function returnAddressOf({ http, oauthReturn }: Settings, provider: string): string | null {
  const hostedUrl = http.accountPageEnabled ? http.publicUrl : null;
  return returnAddressFor({ ...oauthReturn, hostedUrl }, provider);
}

/**
 * Where a program on the browser's own computer listens (RFC 8252, 7.3). The caller chose the port:
 * a person is asked before the browser goes there.
 */
export function loopbackAddress(port: number, provider: string): string {
  return `http://127.0.0.1:${port}/oauth/${provider}`;
}

/** The address with the answer. No text of a request takes part: it is no open redirector. */
export function returnLocation(address: string, query: ReturnQuery): string {
  const url = new URL(address);
  url.search = new URLSearchParams({ ...query }).toString();
  return url.href;
}
