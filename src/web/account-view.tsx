import { Devices } from './devices.js';
import { Endings } from './endings.js';
import { Identities } from './identities.js';
import { Sessions } from './sessions.js';
import type { Session } from './tab-memory.js';
import { useAccount, type Account } from './use-account.js';
import { Waiting } from './waiting.js';
import { dateInWords, type Notice } from './words.js';

interface AccountViewProps {
  readonly session: Session;
  readonly leave: (notice: Notice) => void;
  readonly tell: (notice: Notice | null) => void;
}

/** What the server keeps about the account that belongs to its owner, and what they can change. */
export function AccountView({ session, leave, tell }: AccountViewProps) {
  const { account, reload, ending } = useAccount(session, leave, tell);
  const part = { session, leave, tell, reload };
  if (account === null) {
    return <Waiting again={reload} tell={tell} />;
  }
  return (
    <>
      {account.refusal !== null && <p class="problem">{account.refusal.message}</p>}
      <Facts account={account} />
      <Identities account={account} {...part} />
      {account.refusal === null && <Devices devices={account.devices} {...part} />}
      {account.refusal === null && <Sessions sessions={account.sessions} {...part} />}
      <Endings session={session} ending={ending} leave={leave} tell={tell} />
    </>
  );
}

function Facts({ account: { profile } }: { account: Account }) {
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">Your account</h2>
      <dl>
        <dt>Number</dt>
        <dd class="code">{profile.id}</dd>
        <dt>Since</dt>
        <dd>{dateInWords(profile.createdAt)}</dd>
        <dt>Sign-in</dt>
        <dd>{profile.keyMode === 'keyed' ? 'With a device key' : 'Without a device key'}</dd>
        <dt>Content</dt>
        <dd>
          {profile.encryptionMode === 'e2ee'
            ? 'End-to-end encrypted: only your devices can read it'
            : 'Readable by the server'}
        </dd>
      </dl>
    </section>
  );
}
