import type { AccountSession } from '../client/api-client-answers.js';
import { clientFor } from './server.js';
import type { Session } from './tab-memory.js';
import { useAction } from './use-action.js';
import { dateInWords, done, type Notice } from './words.js';

interface SessionsProps {
  readonly sessions: readonly AccountSession[];
  readonly session: Session;
  readonly leave: (notice: Notice) => void;
  readonly tell: (notice: Notice | null) => void;
  readonly reload: () => void;
}

/** Where this account is signed in. */
export function Sessions({ sessions, session, leave, tell, reload }: SessionsProps) {
  const { isBusy, run } = useAction(tell, leave);
  const end = async ({ id }: AccountSession) => {
    await clientFor(session.token).endSession(id);
    tell(done('That session has ended.'));
    reload();
  };
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Signed in</h2>
      <ul>
        {sessions.map((one) => (
          <li key={one.id}>
            <div>
              <strong>{one.current ? 'This page' : nameOf(one)}</strong>
              <span class="quiet">
                {[one.address, `last used ${dateInWords(one.lastSeenAt)}`]
                  .filter((part) => part !== null)
                  .join(', ')}
              </span>
            </div>
            {!one.current && (
              <button type="button" disabled={isBusy} onClick={() => run(() => end(one))}>
                End
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ client: { name, platform }, method }: AccountSession): string {
  return name ?? platform ?? (method === 'key_challenge' ? 'A device key' : method);
}
