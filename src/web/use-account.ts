import type { RefObject } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type {
  AccountProfile,
  AccountSession,
  SavedPushToken,
  ServerFeatures,
} from '../client/api-client-answers.js';
import { authChoices, type AuthChoices } from '../client/auth-choices.js';
import { connectUpdates } from '../client/connect-updates.js';
import { GatehouseProblem } from '../client/problem.js';
import { clientFor, serverUrl } from './server.js';
import type { Session } from './tab-memory.js';
import { failureInWords, isSignedOut, problem, type Notice } from './words.js';

/** What the account page shows. */
export interface Account {
  readonly profile: AccountProfile;
  readonly choices: AuthChoices;
  readonly features: ServerFeatures;
  /** Why the account may do nothing but link providers; then there are no devices to show. */
  readonly refusal: GatehouseProblem | null;
  readonly devices: readonly SavedPushToken[];
  readonly sessions: readonly AccountSession[];
}

interface Watched {
  readonly account: Account | null;
  readonly reload: () => void;
  /** Whether the session is being ended here: then nobody has to hear that it ended. */
  readonly ending: RefObject<boolean>;
}

/** The account, asked for again whenever the server says that something of it changed. */
export function useAccount(
  { token }: Session,
  leave: (notice: Notice) => void,
  tell: (notice: Notice | null) => void,
): Watched {
  const [account, setAccount] = useState<Account | null>(null);
  const ending = useRef(false);
  const latest = useRef(0);
  const fail = useCallback((error: unknown) => {
    const words = problem(failureInWords(error));
    if (!ending.current) {
      (isSignedOut(error) ? leave : tell)(words);
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
  useEffect(reload, [token]);
  useEffect(() => {
    const onStopped = (refusal: GatehouseProblem) =>
      isSignedOut(refusal) ? fail(refusal) : reload();
    const handlers = { onUpdate: reload, onGap: reload, onStopped };
    // From 0: what changes between the first reading and the connection is a gap as well.
    const connection = connectUpdates({ serverUrl: serverUrl(), token, lastSeq: 0 }, handlers);
    return () => connection.close();
  }, [token]);
  return { account, reload, ending };
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

/** The one failure that is part of the picture: a policy that keeps the account out for now. */
function refusalIn(error: unknown): GatehouseProblem {
  if (error instanceof GatehouseProblem && error.status === 403) {
    return error;
  }
  throw error;
}
