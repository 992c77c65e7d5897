import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { GatehouseProblem } from '../../client/api/problem.js';
import { Loading, failure, NoticeLine, type Notice } from '../ui/notice.js';
import { clientWith, keepToken, keptToken, SessionContext, type Session } from './session.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';

type Access =
  | { readonly kind: 'waiting'; readonly notice: Notice | null }
  | { readonly kind: 'signed-out'; readonly notice: Notice | null }
  | { readonly kind: 'signed-in'; readonly session: Omit<Session, 'end'> };

/** The console for administrators: a sign-in, or what the caller may see. */
export function Console() {
  const [access, setAccess] = useState<Access>({ kind: 'waiting', notice: null });
  const enter = useCallback(async () => {
    setAccess(await accessNow());
  }, []);
  useEffect(() => void enter(), []);
  const end = useCallback((notice: Notice | null) => {
    keepToken(undefined);
    setAccess({ kind: 'signed-out', notice });
  }, []);
  const known = access.kind === 'signed-in' ? access.session : null;
  const session = useMemo(() => known && { ...known, end }, [known, end]);
  if (access.kind === 'signed-out') {
    return <SignIn notice={access.notice} enter={enter} />;
  }
  if (session === null) {
    return (
      <main class="gate">
        <NoticeLine notice={access.kind === 'waiting' ? access.notice : null} />
        <Loading retry={enter} />
      </main>
    );
  }
  return (
    <SessionContext.Provider value={session}>
      <Shell />
    </SessionContext.Provider>
  );
}

/** Asks the server which administrator this is: by the token of this tab, else by what the browser sends itself. */
async function accessNow(): Promise<Access> {
  const token = keptToken();
  const client = clientWith(token);
  try {
    return { kind: 'signed-in', session: { client, caller: await client.me() } };
  } catch (error) {
    if (!(error instanceof GatehouseProblem) || error.status !== 401) {
      return { kind: 'waiting', notice: failure(error) };
    }
    keepToken(undefined);
    return { kind: 'signed-out', notice: error.code === 'missing-token' ? null : failure(error) };
  }
}
