import { readOAuthReturn, type OAuthReturn } from '../../client/api/oauth-return.js';
import { readDeviceLink } from '../../client/crypto/device-link.js';
import { isRecord } from '../../client/is-record.js';
import { invitationIn } from '../../policy/flow/invitation-code.js';
import { forgetOpened } from './notifications/opened-content.js';
import { sectionIn } from './sections.js';

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
  readonly purpose: 'sign-in' | 'connect';
}

/** A device that this tab is asked to add to the account. */
export interface PendingDevice {
  /** `XXXX-XXXX`; null until it is typed. */
  readonly userCode: string | null;
  /** The key of the device's link; null where only the code is known. */
  readonly publicKey: string | null;
}

/** Asks for the code. */
export const UNKNOWN_DEVICE: PendingDevice = { userCode: null, publicKey: null };

/** The provider id of a sign-in with a certificate. */
export const CERTIFICATE = 'mtls';

/** How this page was opened. */
export type Arrival =
  | { readonly kind: 'opened' }
  /** By the link of an invitation, with its code as it was written. */
  | { readonly kind: 'invited'; readonly code: string }
  /** To add a device, by its link or by a code to type. */
  | {
      readonly kind: 'device';
      readonly device: PendingDevice;
      /** Whether the address has a fragment that is no device link. */
      readonly isDamaged: boolean;
    }
  /** From signing in with a certificate, or connecting one: with the code to claim, or an error. */
  | {
      readonly kind: 'certificate';
      readonly code: string | null;
      readonly error: string;
      /** What this tab started. */
      readonly flow: PendingFlow;
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
const DEVICE = 'gatehouse.device';

export function saveSession({ token, accountId }: Session): void {
  sessionStorage.setItem(SESSION, JSON.stringify({ token, accountId }));
}

export function removeSession(): void {
  forgetOpened();
  sessionStorage.removeItem(SESSION);
}

export function savedSession(): Session | null {
  const { token, accountId } = read(SESSION);
  return typeof token === 'string' && typeof accountId === 'string' ? { token, accountId } : null;
}

export function savePendingFlow(flow: PendingFlow): void {
  sessionStorage.setItem(PENDING_FLOW, JSON.stringify(flow));
}

/** Kept while the browser signs in at a provider. @param device null removes it */
export function savePendingDevice(device: PendingDevice | null): void {
  sessionStorage.setItem(DEVICE, JSON.stringify(device));
}

export function savedPendingDevice(): PendingDevice | null {
  const { userCode, publicKey } = read(DEVICE);
  const isText = (value: unknown): value is string | null =>
    value === null || typeof value === 'string';
  return isText(userCode) && isText(publicKey) ? { userCode, publicKey } : null;
}

/** Reads the address and removes the answer from it: an answer can be used once. */
export function takeArrival(): Arrival {
  const address = new URL(location.href);
  const section = sectionIn(address.hash);
  history.replaceState(null, '', section === null ? document.baseURI : `#${section}`);
  if (/\/device\/?$/.test(address.pathname)) {
    return fromDevice(address);
  }
  const code = invitationIn(address.hash);
  if (code !== null) {
    return { kind: 'invited', code };
  }
  const provider = /\/oauth\/([^/]+)\/?$/.exec(address.pathname)?.[1];
  return provider === undefined ? fromCertificate(address) : fromProvider(provider, address.href);
}

function fromDevice({ href, hash }: URL): Arrival {
  const link = readDeviceLink(href);
  const device =
    link === null ? UNKNOWN_DEVICE : { userCode: link.userCode, publicKey: link.publicKey };
  savePendingDevice(device);
  return { kind: 'device', device, isDamaged: link === null && hash !== '' };
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
    ? { kind: 'certificate', code, error: error ?? '', flow }
    : { kind: 'opened' };
}

function takePendingFlow(): PendingFlow | null {
  const { provider, proof, purpose } = read(PENDING_FLOW);
  sessionStorage.removeItem(PENDING_FLOW);
  return typeof provider === 'string'
    ? {
        provider,
        proof: typeof proof === 'string' ? proof : null,
        purpose: purpose === 'connect' ? purpose : 'sign-in',
      }
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
