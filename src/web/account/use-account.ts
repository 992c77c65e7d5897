import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  AccountProfile,
  AccountSession,
  SavedPushToken,
  ServerFeatures,
} from '../../client/api/api-client-answers.js';
import { authChoices, type AuthChoices } from '../../client/api/auth-choices.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import { connectUpdates } from '../../client/updates/connect-updates.js';
import { clientFor, serverUrl } from '../server.js';
import { failure, type Notice, type Notify } from '../ui/notice.js';
import { requiresSignIn } from '../words/failure.js';
import type { Endings } from './security/sign-out.js';
import type { Session } from './tab-state.js';

/** What the account page shows. */
export interface Account {
  readonly profile: AccountProfile;
  readonly choices: AuthChoices;
  readonly features: ServerFeatures;
  /** Why the account may only link providers; devices and sessions are then empty. */
  readonly refusal: GatehouseProblem | null;
  readonly devices: readonly SavedPushToken[];
  readonly sessions: readonly AccountSession[];
}

/** What each part of the page needs to act on the account. */
export interface AccountActions {
  readonly session: Session;
  readonly endSession: (notice: Notice) => void;
  readonly notify: Notify;
  readonly reload: () => void;
}

/** What each section of the account view gets. */
export interface SectionProps extends AccountActions {
  readonly account: Account;
  /** The push token of this browser; null where it is not subscribed. */
  readonly own: string | null;
  readonly endings: Endings;
  readonly addDevice: () => void;
}

interface LiveAccount {
  /** null until it is read. */
  readonly account: Account | null;
  readonly reload: () => void;
  /** Whether this page is ending the session: its end is then no failure to report. */
  readonly isEnding: RefObject<boolean>;
}

/** The account, read again whenever the server sends an update. */
export function useAccount(
  { token }: Session,
  endSession: (notice: Notice) => void,
  notify: Notify,
): LiveAccount {
  const [account, setAccount] = useState<Account | null>(null);
  const isEnding = useRef(false);
  const latest = useRef(0);
  const fail = useCallback((error: unknown) => {
    if (!isEnding.current) {
      (requiresSignIn(error) ? endSession : notify)(failure(error));
    }
  }, []);
  const reload = useCallback(() => {
    const turn = (latest.current += 1);
    const ifLatest = (act: () => void) => turn === latest.current && act();
    read(token).then(
      (next) => ifLatest(() => setAccount(next)),
      (error: unknown) => ifLatest(() => fail(error)),
    );
  }, [token]);
  // Not after the next frame, for which a page in the background waits: the session before this one may be
  // ended by then, and that would end this one on the page.
  useLayoutEffect(reload, [token]);
  useLayoutEffect(() => {
    const onStopped = (refusal: GatehouseProblem) =>
      requiresSignIn(refusal) ? fail(refusal) : reload();
    const handlers = { onUpdate: reload, onGap: reload, onStopped };
    // From 0: what changes between the first reading and the connection is a gap as well.
    const connection = connectUpdates({ serverUrl: serverUrl(), token, lastSeq: 0 }, handlers);
    return () => connection.close();
  }, [token]);
  return { account, reload, isEnding };
}

async function read(token: string): Promise<Account> {
  const client = clientFor(token);
  const [features, profile, devices, sessions] = await Promise.all([
    client.features(),
    client.profile(),
    client.pushTokens().catch(refusalIn),
    client.sessions().catch(refusalIn),
  ]);
  const known = { profile, choices: authChoices(features), features };
  const refused = [devices, sessions].find((part) => part instanceof GatehouseProblem);
  return devices instanceof GatehouseProblem || sessions instanceof GatehouseProblem
    ? { ...known, refusal: refused ?? null, devices: [], sessions: [] }
    : { ...known, refusal: null, devices, sessions };
}

/** The one failure that the page shows: a policy that refuses the account for now. */
function refusalIn(error: unknown): GatehouseProblem {
  if (error instanceof GatehouseProblem && error.status === 403) {
    return error;
  }
  throw error;
}
