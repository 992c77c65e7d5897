import type { AdminAccount } from '../../../client/api/admin-client.js';
import type { AdminSession } from '../admin-answers.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { formatRelative } from '../../words/format.js';
import { useSession } from '../session.js';
import { texts } from '../words/texts.js';
import { ActButton, type ActResult } from '../act-button.js';
import { methodName } from './account-names.js';

interface SessionsProps extends ActResult {
  readonly account: AdminAccount;
}

/** Where the account is signed in. */
export function Sessions({ account: { id, sessions }, ...result }: SessionsProps) {
  const { client, caller } = useSession();
  const { detail, acts } = texts;
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">{detail.sessions}</h2>
      {sessions.length === 0 && <p class="empty">{detail.noSession}</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.id}>
            <span class="tile">
              <Icon name={iconOf(session)} />
            </span>
            <div>
              <strong>{session.client.name ?? detail.unnamedClient}</strong>
              <span class="hint">{factsOf(session)}</span>
            </div>
            {caller.role === 'operate' && (
              <ActButton
                texts={acts.endSession}
                label={acts.endNamed(session.client.name ?? detail.unnamedClient)}
                isSmall
                run={(reason) => client.endSession(id, session.id, reason)}
                {...result}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function factsOf({ method, address, createdAt, lastSeenAt }: AdminSession): string {
  const { detail } = texts;
  return [
    methodName(method),
    ...(address === null ? [] : [address]),
    detail.signedIn(formatRelative(createdAt)),
    detail.lastUsed(formatRelative(lastSeenAt)),
  ].join(' · ');
}

function iconOf({ client: { platform } }: AdminSession): IconName {
  if (platform === 'ios' || platform === 'android') {
    return 'phone';
  }
  return platform === 'web' ? 'browser' : 'terminal';
}
