import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  AccountProfile,
  AccountSession,
  AccountUpdate,
  SavedPushToken,
  ServerFeatures,
} from '../../../packages/client/api/api-client-answers.js';
import { authChoices, type AuthChoices } from '../../../packages/client/api/auth-choices.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { connectUpdates } from '../../../packages/client/updates/connect-updates.js';
import { clientFor, serverUrl } from '../server.js';
import { t } from '../i18n/messages.js';
import { done, failure, type Notice, type NoticeUpdate } from '../ui/notice.js';
import { useReload } from '../ui/use-reload.js';
import { requiresSignIn } from '../i18n/failure.js';
import type { WaitingRequests } from './approvals/pressed-allow.js';
import type { Session } from './tab-state.js';

export interface Account {
  readonly profile: AccountProfile;
  readonly choices: AuthChoices;
  readonly features: ServerFeatures;
  /** The reason why the account may only link providers; devices and sessions are then empty. */
  readonly refusal: GatehouseProblem | null;
  readonly devices: readonly SavedPushToken[];
  readonly sessions: readonly AccountSession[];
}

export interface AccountActions {
  readonly session: Session;
  /** @param isSignOut true if its owner ends it: then no other sign-in of this tab does */
  readonly endSession: (notice: Notice, isSignOut?: boolean) => void;
  readonly notify: NoticeUpdate;
  readonly reload: () => void;
  /**
   * Remembers a key of the account for the other sections.
   *
   * @param isEntered false if a passkey opened it, which does not prove that its owner saved it
   */
  readonly noteKey: (key: DeviceKey, isEntered?: boolean) => void;
}

export interface Endings {
  readonly isBusy: boolean;
  readonly notice: Notice | null;
  readonly signOut: () => void;
  readonly signOutEverywhere: () => void;
  readonly deleteAccount: () => void;
}

export interface SectionProps extends AccountActions {
  readonly account: Account;
  /** The push token of this browser; null where it is not subscribed. */
  readonly own: string | null;
  readonly endings: Endings;
  readonly refresh: LiveAccount['refresh'];
  /** Requests of programs that wait; null where the server or the account takes none. */
  readonly waiting: WaitingRequests['waiting'];
  readonly pressedAllow: WaitingRequests['pressedAllow'];
  readonly addDevice: () => void;
}

interface LiveAccount {
  readonly account: Account | null;
  readonly reload: () => void;
  /** Reads what no update reports, and keeps the last answer where it cannot. */
  readonly refresh: () => Promise<void>;
  /** True while this page ends the session, so that the end is not reported as a failure. */
  readonly isEnding: RefObject<boolean>;
}

export function useAccount(
  { token }: Session,
  endSession: (notice: Notice) => void,
  notify: NoticeUpdate,
): LiveAccount {
  const [account, setAccount] = useState<Account | null>(null);
  const isEnding = useRef(false);
  const latest = useRef(0);
  const load = useCallback(async () => {
    const turn = (latest.current += 1);
    try {
      const next = await read(token);
      if (turn === latest.current) {
        setAccount(next);
      }
    } catch (error) {
      if (turn === latest.current && !isEnding.current) {
        throw error;
      }
    }
  }, [token]);
  const reload = useReload(load, { notify, endSession });
  // The updates connection reports an end of the session.
  const refresh = useCallback(() => load().catch(() => undefined), [load]);
  // A layout effect also runs in a background page, before the previous session may end.
  useLayoutEffect(reload, [token]);
  useUpdates(token, { reload, notify }, (refusal) => {
    if (!requiresSignIn(refusal)) {
      reload();
    } else if (!isEnding.current) {
      endSession(failure(refusal));
    }
  });
  return { account, reload, refresh, isEnding };
}

/** @param onStopped receives a lasting refusal; the first one given is kept, as the others are */
function useUpdates(
  token: string,
  { reload, notify }: Pick<AccountActions, 'reload' | 'notify'>,
  onStopped: (refusal: GatehouseProblem) => void,
): void {
  useLayoutEffect(() => {
    const onUpdate = ({ body }: AccountUpdate) => {
      reload();
      if (body.t === 'program-granted') {
        notify(done(() => t.devices.programGranted));
      }
    };
    const handlers = { onUpdate, onGap: reload, onStopped };
    // From 0: changes between the first read and the connection are then reported as a gap.
    const connection = connectUpdates({ serverUrl: serverUrl(), token, lastSeq: 0 }, handlers);
    return () => connection.close();
  }, [token]);
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

/** Returns the only failure that the page shows: a policy that refuses the account for now. */
function refusalIn(error: unknown): GatehouseProblem {
  if (error instanceof GatehouseProblem && error.status === 403) {
    return error;
  }
  throw error;
}
