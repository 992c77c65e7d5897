import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { GatehouseAdmin, type AdminCaller } from '../../../packages/client/api/admin-client.js';
import { serverUrl } from '../server.js';
import type { Notice } from '../ui/notice.js';

/** Stored for the lifetime of the tab, because a token grants all rights of its administrator. */
const STORAGE_KEY = 'gatehouse.admin-token';

export interface Session {
  readonly client: GatehouseAdmin;
  readonly caller: AdminCaller;
  /** Shows the sign-in, with the reason for the end of the session. */
  readonly end: (notice: Notice | null) => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error('There is no session.');
  }
  return session;
}

/** @param token undefined = the certificate or session that the browser sends */
export function clientWith(token?: string): GatehouseAdmin {
  return new GatehouseAdmin({ serverUrl: serverUrl(), token });
}

export function keptToken(): string | undefined {
  return sessionStorage.getItem(STORAGE_KEY) ?? undefined;
}

export function storeToken(token: string | undefined): void {
  if (token === undefined) {
    sessionStorage.removeItem(STORAGE_KEY);
  } else {
    sessionStorage.setItem(STORAGE_KEY, token);
  }
}

/** The name of the administrators' provider, which the server writes into the page; '' = none. */
export function loginProvider(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="gatehouse-admin-login"]');
  return meta?.content ?? '';
}
