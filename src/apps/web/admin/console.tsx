import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { Loading, failure, NoticeLine, type Notice } from '../ui/notice.js';
import { clientWith, storeToken, keptToken, SessionContext, type Session } from './session.js';
import { ProviderNames } from './provider-names.js';
import { useReload } from '../ui/use-reload.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';

type Access =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'signed-out'; readonly notice: Notice | null }
  | { readonly kind: 'signed-in'; readonly session: Omit<Session, 'end'> };

export function Console() {
  const [access, setAccess] = useState<Access>({ kind: 'waiting' });
  const [failed, showFailed] = useState<Notice | null>(null);
  const load = async () => setAccess(await accessNow());
  const reload = useReload(load, { notify: showFailed });
  useEffect(reload, []);
  const showConsole = useCallback(() => {
    setAccess({ kind: 'waiting' });
    reload();
  }, []);
  const end = useCallback((notice: Notice | null) => {
    storeToken(undefined);
    setAccess({ kind: 'signed-out', notice });
  }, []);
  const known = access.kind === 'signed-in' ? access.session : null;
  const session = useMemo(() => known && { ...known, end }, [known, end]);
  if (access.kind === 'signed-out') {
    return <SignIn notice={access.notice} showConsole={showConsole} />;
  }
  if (session === null) {
    return (
      <main class="gate">
        <NoticeLine notice={failed} />
        <Loading retry={reload} notify={showFailed} />
      </main>
    );
  }
  return (
    <SessionContext.Provider value={session}>
      <ProviderNames>
        <Shell />
      </ProviderNames>
    </SessionContext.Provider>
  );
}

/** Uses this tab's token, else the browser's credentials. */
async function accessNow(): Promise<Access> {
  const token = keptToken();
  const client = clientWith(token);
  try {
    return { kind: 'signed-in', session: { client, caller: await client.me() } };
  } catch (error) {
    if (!(error instanceof GatehouseProblem) || error.status !== 401) {
      throw error;
    }
    storeToken(undefined);
    return { kind: 'signed-out', notice: error.code === 'missing-token' ? null : failure(error) };
  }
}
