import type { AccountProfile } from '../client/api-client-answers.js';
import { clientFor } from './server.js';
import { rememberBegun, type Session } from './tab-memory.js';
import type { Account } from './use-account.js';
import { useAction } from './use-action.js';
import { dateInWords, done, type Notice } from './words.js';

type Identity = AccountProfile['identities'][number];

interface IdentitiesProps {
  readonly account: Account;
  readonly session: Session;
  readonly leave: (notice: Notice) => void;
  readonly tell: (notice: Notice | null) => void;
  readonly reload: () => void;
}

/** Who vouches for this account, and who else could. */
export function Identities({ account, session, leave, tell, reload }: IdentitiesProps) {
  const { profile, choices, features } = account;
  const { isBusy, run } = useAction(tell, leave);
  const { providers = {}, login } = features.capabilities.auth;
  const nameOf = (id: string) => providers[id]?.displayName ?? (id === 'mtls' ? 'Certificate' : id);
  const rowOf = (id: string) => ({
    name: nameOf(id),
    isRequired: login?.requiredProviders?.includes(id) ?? false,
    isBusy,
  });
  const isLinked = (id: string) => profile.identities.some(({ provider }) => provider === id);
  const open = choices.connectable[profile.keyMode].filter((id) => !isLinked(id));
  const disconnect = async (id: string) => {
    await clientFor(session.token).connect.disconnect(id);
    tell(done(`${nameOf(id)} is disconnected.`));
    reload();
  };
  if (profile.identities.length + open.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="identities">
      <h2 id="identities">Connected providers</h2>
      <ul>
        {profile.identities.map((identity) => (
          <Linked
            key={identity.provider}
            identity={identity}
            {...rowOf(identity.provider)}
            disconnect={() => run(() => disconnect(identity.provider))}
          />
        ))}
        {open.map((id) => (
          <Open key={id} {...rowOf(id)} connect={() => run(() => goToConnect(session, id))} />
        ))}
      </ul>
    </section>
  );
}

/** Leaves for the provider, for the account of this tab. */
async function goToConnect({ token }: Session, provider: string): Promise<void> {
  const address = await clientFor(token).connect.start(provider);
  rememberBegun({ provider, proof: null });
  location.assign(address);
}

interface RowProps {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isBusy: boolean;
}

function Open({ name, isRequired, isBusy, connect }: RowProps & { connect: () => void }) {
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <span class="quiet">{isRequired ? 'Needed to go on here' : 'Not connected'}</span>
      </div>
      <button type="button" disabled={isBusy} onClick={connect}>
        Connect
      </button>
    </li>
  );
}

interface LinkedProps extends RowProps {
  readonly identity: Identity;
  readonly disconnect: () => void;
}

function Linked({ identity, name, isRequired, isBusy, disconnect }: LinkedProps) {
  const { provider, login, eligibility } = identity;
  const ask = () => {
    const loss = 'This server asks for it: you are kept out until you connect it again. Go on?';
    if (!isRequired || confirm(loss)) {
      disconnect();
    }
  };
  return (
    <li>
      <div>
        <strong>{name}</strong>
        {login !== null && <span>{login}</span>}
        <span class={eligibility.status === 'ineligible' ? 'problem' : 'quiet'}>
          {statusInWords(eligibility)}
        </span>
      </div>
      {provider !== 'mtls' && (
        <button type="button" disabled={isBusy} onClick={ask}>
          Disconnect
        </button>
      )}
    </li>
  );
}

function statusInWords({ status, checkedAt }: Identity['eligibility']): string {
  const when = checkedAt === null ? '' : `, ${dateInWords(checkedAt)}`;
  return (
    { eligible: 'Confirmed', ineligible: 'Not confirmed', unknown: 'Not checked' }[status] + when
  );
}
