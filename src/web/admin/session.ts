import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { GatehouseAdmin, type AdminCaller } from '../../client/api/admin-client.js';
import { serverUrl } from '../server.js';
import type { Notice } from '../ui/notice.js';

/** Gone with the tab: a token is as good as the person it was given to. */
const KEPT = 'gatehouse.admin-token';

/** The console of an administrator who is logged in. */
export interface Session {
  readonly client: GatehouseAdmin;
  readonly caller: AdminCaller;
  /** Shows the sign-in, with what ended the session. */
  readonly end: (notice: Notice | null) => void;
}

export const SessionContext = createContext<Session | null>(null);

/** The session that the console is shown for. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error('There is no session.');
  }
  return session;
}

/** @param token undefined = the certificate or the session that the browser sends by itself */
export function clientWith(token?: string): GatehouseAdmin {
  return new GatehouseAdmin({ serverUrl: serverUrl(), token });
}

/** The token of this tab. */
export function keptToken(): string | undefined {
  return sessionStorage.getItem(KEPT) ?? undefined;
}

/** @param token undefined = forget it */
export function keepToken(token: string | undefined): void {
  if (token === undefined) {
    sessionStorage.removeItem(KEPT);
  } else {
    sessionStorage.setItem(KEPT, token);
  }
}

/** What the provider of administrators is called, as the server writes it into the page; '' = none. */
export function loginProvider(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="gatehouse-admin-login"]');
  return meta?.content ?? '';
}
