import type { AuthMode } from '../../../core/policy/admission/admission.js';
import type { AccountMode, StoragePolicy } from '../../../core/policy/operator-policy.js';

export interface ReturnQuery {
  readonly flow: 'auth' | 'connect';
  readonly error?: string;
  /** Account and reason of a refused identity that has an account. */
  readonly account?: string;
  readonly reason?: string;
  readonly pending?: string;
  readonly mode?: AuthMode;
  readonly storagePolicy?: StoragePolicy;
  readonly accountMode?: AccountMode;
  readonly provisioning?: 'required';
  readonly provisioningModes?: string;
}

/** A program's address on the browser's computer (RFC 8252, 7.3); users confirm its port. */
export function loopbackAddress(port: number, provider: string): string {
  return `http://127.0.0.1:${port}/oauth/${provider}`;
}

/** The address with the answer. It contains no text of a request: no open redirector. */
export function returnLocation(address: string, query: ReturnQuery): string {
  const url = new URL(address);
  url.search = new URLSearchParams({ ...query }).toString();
  return url.href;
}
