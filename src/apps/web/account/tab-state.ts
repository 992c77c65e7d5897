import { readOAuthReturn, type OAuthReturn } from '../../../packages/client/api/oauth-return.js';
import {
  deviceLink,
  isOlderDeviceLink,
  readDeviceLink,
  type DeviceLink,
} from '../../../packages/client/devices/device-link.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { invitationIn } from '../../../core/protocol/invitation-code.js';
import { forgetKeyOf } from './key-memory.js';
import { sectionIn } from './sections.js';

export interface Session {
  readonly token: string;
  readonly accountId: string;
  /** True once the key was entered after it was created, so that its owner has it. */
  readonly isKeyEntered?: boolean;
}

/** The device key of an account, encrypted for a passkey. The bytes are in base64url. */
export interface KeptKey {
  readonly accountId: string;
  /** The id of the passkey. */
  readonly credentialId: string;
  /** The input from which the passkey computes its secret. */
  readonly salt: string;
  readonly iv: string;
  readonly sealed: string;
}

/** A sign-in or a link that this tab started and for which the provider redirects back. */
interface PendingFlow {
  readonly provider: string;
  /** The secret whose hash the server has; null = none. */
  readonly proof: string | null;
  readonly purpose: 'sign-in' | 'connect';
}

/** A device that asks this tab to be added to the account. */
export interface PendingDevice {
  /** `XXXX-XXXX`; null until it is typed. */
  readonly userCode: string | null;
  /** The device's link, with its secret; null where only the code is known. */
  readonly link: DeviceLink | null;
}

/** The request of a program that this tab answers. */
export interface PendingProgram {
  /** The secret id of the request; null = it was refused. */
  readonly id: string | null;
  /** The code of the refusal; null = none. */
  readonly error: string | null;
}

/** A device whose code the form asks for. */
export const UNKNOWN_DEVICE: PendingDevice = { userCode: null, link: null };

/** The provider id of a sign-in with a certificate. */
export const CERTIFICATE = 'mtls';

export type Arrival =
  | { readonly kind: 'opened' }
  /** The request of a program, or its refusal. */
  | { readonly kind: 'program'; readonly program: PendingProgram }
  /** An invitation link, with its code unchanged. */
  | { readonly kind: 'invited'; readonly code: string }
  /** A request to add a device, by its link or by a typed code. */
  | {
      readonly kind: 'device';
      readonly device: PendingDevice;
      /** The fault of a fragment that is not a device link of this version. */
      readonly fault: 'damaged' | 'older' | null;
    }
  /** The return from a certificate login or link, with a code to claim or an error. */
  | {
      readonly kind: 'certificate';
      readonly code: string | null;
      readonly error: string;
      readonly reason: string | undefined;
      readonly accountId: string | undefined;
      /** The flow that this tab started. */
      readonly flow: PendingFlow;
    }
  | {
      readonly kind: 'returned';
      readonly provider: string;
      readonly answer: OAuthReturn;
      /** The flow that this tab started with the provider; null = another tab started it. */
      readonly flow: PendingFlow | null;
    };

const SESSION = 'gatehouse.session';
const STAYS = 'gatehouse.stays';
const KEPT_KEY = 'gatehouse.kept-key';
const REPLACED = 'gatehouse.replaced';
const PENDING_FLOW = 'gatehouse.begun';
const DEVICE = 'gatehouse.device';
const PROGRAM = 'gatehouse.program';

/** The choice at sign-in: keep the session for all tabs of this browser, also after they close. */
export function isStaying(): boolean {
  return sessionStorage.getItem(STAYS) !== null;
}

/** Kept in this tab, because a provider redirects back to it. */
export function chooseStaying(stays: boolean): void {
  if (stays) {
    sessionStorage.setItem(STAYS, '');
  } else {
    sessionStorage.removeItem(STAYS);
  }
}

/** @param replaced the session of this tab until now; null = none */
export function saveSession(
  { token, accountId, isKeyEntered = false }: Session,
  replaced: Session | null,
): void {
  const store = isStaying() ? localStorage : sessionStorage;
  sessionStorage.removeItem(SESSION);
  store.setItem(SESSION, JSON.stringify({ token, accountId, isKeyEntered }));
  discardKeysWithoutSession();
  if (replaced !== null && !isSaved(replaced)) {
    noteReplaced(replaced);
  }
  if (replaced !== null && replaced.accountId !== accountId) {
    forgetKeyOf(replaced.accountId);
  }
}

/**
 * Removes the session of this tab, and the key with it, in memory and in storage.
 *
 * @returns the session with which another tab replaced it
 */
export function removeSession({ token, accountId }: Session): Session | null {
  const kept = sessionIn(localStorage);
  sessionStorage.removeItem(SESSION);
  if (kept?.token === token) {
    localStorage.removeItem(SESSION);
  }
  discardKeysWithoutSession();
  if (kept !== null && kept.token !== token && kept.accountId === accountId) {
    return kept;
  }
  forgetKeyOf(accountId);
  return null;
}

/** Stores the key next to the session, so that both end together. Does nothing after its end. */
export function saveKeptKey(kept: KeptKey): void {
  storeOf(kept.accountId)?.setItem(KEPT_KEY, JSON.stringify(kept));
}

/** Returns the key that this browser keeps for the session of the account. */
export function keptKeyOf(accountId: string): KeptKey | null {
  const store = storeOf(accountId);
  return store === undefined ? null : keptKeyIn(store);
}

export function discardKeptKey(accountId: string): void {
  const store = storeOf(accountId);
  if (store !== undefined) {
    discardKeyIn(store);
  }
}

function storeOf(accountId: string): Storage | undefined {
  return [sessionStorage, localStorage].find((store) => {
    return sessionIn(store)?.accountId === accountId;
  });
}

/** A key must not outlive its session, or pass to the session of another account. */
function discardKeysWithoutSession(): void {
  for (const store of [sessionStorage, localStorage]) {
    if (keptKeyIn(store)?.accountId !== sessionIn(store)?.accountId) {
      discardKeyIn(store);
    }
  }
}

function discardKeyIn(store: Storage): void {
  const kept = keptKeyIn(store);
  store.removeItem(KEPT_KEY);
  if (kept !== null) {
    discardPasskey(kept.credentialId);
  }
}

/** Lets the password manager delete a passkey that opens nothing. */
export function discardPasskey(credentialId: string): void {
  const { PublicKeyCredential: passkeys } = window as Passkeys;
  const signal = passkeys?.signalUnknownCredential?.({ rpId: location.hostname, credentialId });
  signal?.catch(() => undefined);
}

/** Undefined in older browsers, and outside secure contexts. */
interface Passkeys {
  readonly PublicKeyCredential?: Partial<typeof PublicKeyCredential>;
}

function keptKeyIn(store: Storage): KeptKey | null {
  const { accountId, credentialId, salt, iv, sealed } = read(KEPT_KEY, store);
  const isText = (value: unknown): value is string => typeof value === 'string';
  return isText(accountId) && isText(credentialId) && isText(salt) && isText(iv) && isText(sealed)
    ? { accountId, credentialId, salt, iv, sealed }
    : null;
}

/** Returns true if this tab has the session, or the browser keeps it for all tabs. */
function isSaved({ token }: Session): boolean {
  return [sessionStorage, localStorage].some((store) => sessionIn(store)?.token === token);
}

/** Notes a session that the next one of this tab replaces, and that may still be live. */
export function noteReplaced(session: Session): void {
  sessionStorage.setItem(REPLACED, JSON.stringify(session));
}

export function takeReplaced(): Session | null {
  const replaced = sessionIn(sessionStorage, REPLACED);
  sessionStorage.removeItem(REPLACED);
  return replaced;
}

/** Returns the session of this tab, or the one that the browser keeps for all tabs. */
export function savedSession(): Session | null {
  discardKeysWithoutSession();
  const own = sessionIn(sessionStorage);
  const kept = own === null ? sessionIn(localStorage) : null;
  if (kept !== null) {
    chooseStaying(true);
  }
  return own ?? kept;
}

/** The account whose session this browser keeps for all tabs; null = none. */
export function keptAccountId(): string | null {
  return sessionIn(localStorage)?.accountId ?? null;
}

function sessionIn(store: Storage, name = SESSION): Session | null {
  const { token, accountId, isKeyEntered } = read(name, store);
  return typeof token === 'string' && typeof accountId === 'string'
    ? { token, accountId, isKeyEntered: isKeyEntered === true }
    : null;
}

export function savePendingFlow(flow: PendingFlow): void {
  sessionStorage.setItem(PENDING_FLOW, JSON.stringify(flow));
}

/** Kept while the browser is at a provider. @param device null removes it */
export function savePendingDevice(device: PendingDevice | null): void {
  const link = device?.link ?? null;
  const saved = device && { ...device, link: link && deviceLink(link) };
  sessionStorage.setItem(DEVICE, JSON.stringify(saved));
}

export function savedPendingDevice(): PendingDevice | null {
  const { userCode, link } = read(DEVICE);
  if (typeof userCode !== 'string') {
    return userCode === null ? UNKNOWN_DEVICE : null;
  }
  return { userCode, link: typeof link === 'string' ? readDeviceLink(link) : null };
}

/** Kept while the browser is at a provider. @param program null removes it */
export function savePendingProgram(program: PendingProgram | null): void {
  sessionStorage.setItem(PROGRAM, JSON.stringify(program));
}

export function savedPendingProgram(): PendingProgram | null {
  const { id, error } = read(PROGRAM);
  const isOne = typeof id === 'string' || typeof error === 'string';
  return isOne
    ? { id: typeof id === 'string' ? id : null, error: typeof error === 'string' ? error : null }
    : null;
}

/** Reads the address and removes the answer from it, because an answer is valid only once. */
export function takeArrival(): Arrival {
  const address = new URL(location.href);
  history.replaceState(
    null,
    '',
    sectionIn(address.hash) === null ? document.baseURI : address.hash,
  );
  if (/\/device\/?$/.test(address.pathname)) {
    return fromDevice(address);
  }
  if (/\/authorize\/?$/.test(address.pathname)) {
    return fromProgram(address.hash.slice(1));
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
  const device = link === null ? UNKNOWN_DEVICE : { userCode: link.userCode, link };
  savePendingDevice(device);
  const fault = isOlderDeviceLink(href) ? 'older' : 'damaged';
  return { kind: 'device', device, fault: link === null && hash !== '' ? fault : null };
}

function fromProgram(fragment: string): Arrival {
  const error = new URLSearchParams(fragment).get('error');
  const program = { id: error === null && fragment !== '' ? fragment : null, error };
  savePendingProgram(program);
  return { kind: 'program', program };
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

/** Ignores a code that this tab did not request: it may sign in to another person's account. */
function fromCertificate({ searchParams }: URL): Arrival {
  const [code, error] = [searchParams.get('code'), searchParams.get('error')];
  const flow = code === null && error === null ? null : takePendingFlow();
  return flow?.provider === CERTIFICATE
    ? {
        kind: 'certificate',
        code,
        error: error ?? '',
        reason: searchParams.get('reason') ?? undefined,
        accountId: searchParams.get('account') ?? undefined,
        flow,
      }
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

function read(name: string, store = sessionStorage): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(store.getItem(name) ?? '{}'));
  } catch {
    return {};
  }
}
