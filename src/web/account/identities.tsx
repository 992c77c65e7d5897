import type { AccountProfile } from '../../client/api/api-client-answers.js';
import { clientFor } from '../server.js';
import { formatDate } from '../ui/format-date.js';
import { done, useAction } from '../ui/notice.js';
import { CERTIFICATE, savePendingFlow, type Session } from './tab-state.js';
import type { Account, AccountActions } from './use-account.js';

type Identity = AccountProfile['identities'][number];

interface IdentitiesProps extends AccountActions {
  readonly account: Account;
}

/** The identities linked to this account, and the providers that can be linked. */
export function Identities({ account, session, endSession, notify, reload }: IdentitiesProps) {
  const { profile, choices, features } = account;
  const { isBusy, run } = useAction(notify, endSession);
  const { providers = {}, login } = features.capabilities.auth;
  const nameOf = (id: string) =>
    providers[id]?.displayName ?? (id === CERTIFICATE ? 'Certificate' : id);
  const rowOf = (id: string) => ({
    name: nameOf(id),
    isRequired: login?.requiredProviders?.includes(id) ?? false,
    isBusy,
  });
  const isLinked = (id: string) => profile.identities.some(({ provider }) => provider === id);
  const unlinked = choices.connectable[profile.keyMode].filter((id) => !isLinked(id));
  const disconnect = async (id: string) => {
    await clientFor(session.token).connect.disconnect(id);
    notify(done(`${nameOf(id)} is disconnected.`));
    reload();
  };
  if (profile.identities.length + unlinked.length === 0) {
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
        {unlinked.map((id) => (
          <Unlinked key={id} {...rowOf(id)} connect={() => run(() => goToConnect(session, id))} />
        ))}
      </ul>
    </section>
  );
}

/** Redirects to the provider, to link it to the account of this tab. */
async function goToConnect({ token }: Session, provider: string): Promise<void> {
  const address = await clientFor(token).connect.start(provider);
  savePendingFlow({ provider, proof: null });
  location.assign(address);
}

interface RowProps {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isBusy: boolean;
}

function Unlinked({ name, isRequired, isBusy, connect }: RowProps & { connect: () => void }) {
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <span class="quiet">{isRequired ? 'Required by this server' : 'Not connected'}</span>
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
    const loss = 'This server requires it: you lose access until you connect it again. Continue?';
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
          {statusText(eligibility)}
        </span>
      </div>
      {provider !== CERTIFICATE && (
        <button type="button" disabled={isBusy} onClick={ask}>
          Disconnect
        </button>
      )}
    </li>
  );
}

function statusText({ status, checkedAt }: Identity['eligibility']): string {
  const when = checkedAt === null ? '' : `, ${formatDate(checkedAt)}`;
  return (
    { eligible: 'Confirmed', ineligible: 'Not confirmed', unknown: 'Not checked' }[status] + when
  );
}
