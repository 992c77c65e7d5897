import { useState } from 'preact/hooks';
import type { AccountProfile } from '../../../client/api/api-client-answers.js';
import { makeLoginProof } from '../../../client/crypto/login-proof.js';
import { clientFor } from '../../server.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { done, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { formatDate, formatRelative } from '../../words/format.js';
import { words } from '../../words/words.js';
import { CERTIFICATE, savePendingFlow } from '../tab-state.js';
import type { Account, SectionProps } from '../use-account.js';

type Identity = AccountProfile['identities'][number];

/** The identities linked to this account, and the providers that can be linked. */
export function Identities(props: SectionProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, props.endSession);
  const { account, session } = props;
  const { identities } = account.profile;
  const { security } = words;
  const rowOf = (id: string) => ({ ...factsOf(account, id), isBusy });
  const unlinked = connectable(account);
  if (identities.length + unlinked.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="identities">
      <div class="lead">
        <h2 id="identities">{security.identities}</h2>
        <p class="quiet">{security.identitiesLead}</p>
      </div>
      <ul>
        {identities.map((identity) => (
          <Linked
            key={identity.provider}
            identity={identity}
            {...rowOf(identity.provider)}
            disconnect={() => run(() => disconnect(props, identity.provider))}
          />
        ))}
        {unlinked.map((id) => (
          <Unlinked
            key={id}
            {...rowOf(id)}
            connect={() => run(() => goToConnect(session.token, id))}
          />
        ))}
      </ul>
      <NoticeLine notice={notice} />
    </section>
  );
}

async function disconnect(props: SectionProps, id: string): Promise<void> {
  const { account, session, notify, reload } = props;
  const { connect, certificate } = clientFor(session.token);
  await (id === CERTIFICATE ? certificate.disconnect() : connect.disconnect(id));
  notify(done(words.security.disconnected(factsOf(account, id).name)));
  reload();
}

function factsOf({ features }: Account, id: string) {
  const { providers = {}, login } = features.capabilities.auth;
  const isCertificate = id === CERTIFICATE;
  return {
    name: providers[id]?.displayName ?? (isCertificate ? words.security.certificate : id),
    isCertificate,
    isRequired: login?.requiredProviders?.includes(id) ?? false,
  };
}

/** What this kind of account can link, and has not. */
function connectable({ profile, choices, features }: Account): readonly string[] {
  const takesCertificate = features.capabilities.auth.methods.some(
    ({ method, action, mode }) =>
      method === CERTIFICATE && action === 'connect' && mode === profile.keyMode,
  );
  return [
    ...choices.connectable[profile.keyMode],
    ...(takesCertificate ? [CERTIFICATE] : []),
  ].filter((id) => !profile.identities.some(({ provider }) => provider === id));
}

/** Redirects to the provider, to link it to the account of this tab. */
async function goToConnect(token: string, provider: string): Promise<void> {
  const { connect, certificate } = clientFor(token);
  if (provider === CERTIFICATE) {
    const { proof, proofHash } = await makeLoginProof();
    const address = await certificate.startConnect(document.baseURI, proofHash);
    savePendingFlow({ provider, proof, purpose: 'connect' });
    location.assign(address);
  } else {
    const address = await connect.start(provider);
    savePendingFlow({ provider, proof: null, purpose: 'connect' });
    location.assign(address);
  }
}

interface RowProps {
  readonly name: string;
  readonly isCertificate: boolean;
  readonly isRequired: boolean;
  readonly isBusy: boolean;
}

function Unlinked(props: RowProps & { readonly connect: () => void }) {
  const { name, isCertificate, isRequired, isBusy, connect } = props;
  const { security } = words;
  return (
    <li>
      <span class="tile">
        <Icon name={isCertificate ? 'certificate' : 'person'} />
      </span>
      <div>
        <strong>{name}</strong>
        {isRequired ? (
          <span class="badge caution">
            <Icon name="alert" />
            {security.requiredHint}
          </span>
        ) : (
          <span class="quiet">{security.notConnected}</span>
        )}
      </div>
      <button
        type="button"
        class={isRequired ? 'primary' : ''}
        aria-label={security.connectNamed(name)}
        disabled={isBusy}
        onClick={connect}
      >
        {security.connect}
      </button>
    </li>
  );
}

interface LinkedProps extends RowProps {
  readonly identity: Identity;
  readonly disconnect: () => void;
}

function Linked({ identity, name, isCertificate, isRequired, isBusy, disconnect }: LinkedProps) {
  const { security } = words;
  const { login, eligibility } = identity;
  return (
    <li>
      <span class="tile accent">
        <Icon name={isCertificate ? 'certificate' : 'person'} />
      </span>
      <div>
        <span class="titled">
          <strong>{name}</strong>
          <Status eligibility={eligibility} />
          {isRequired && <span class="badge">{security.required}</span>}
        </span>
        {login !== null && <span>{login}</span>}
        <Checks eligibility={eligibility} />
      </div>
      <Disconnect name={name} isRequired={isRequired} isBusy={isBusy} disconnect={disconnect} />
    </li>
  );
}

type DisconnectProps = Omit<LinkedProps, 'identity' | 'isCertificate'>;

/** Asks first: access may depend on it. */
function Disconnect({ name, isRequired, isBusy, disconnect }: DisconnectProps) {
  const dialog = useDialog();
  const { security } = words;
  const confirm = () => {
    dialog.current?.close();
    disconnect();
  };
  return (
    <>
      <button
        type="button"
        aria-label={security.disconnectNamed(name)}
        disabled={isBusy}
        onClick={() => dialog.current?.showModal()}
      >
        {security.disconnect}
      </button>
      <Dialog own={dialog} title={security.disconnectTitle(name)}>
        <p>{isRequired ? security.disconnectLoss : security.disconnectHint}</p>
        <div class="row end">
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            {words.cancel}
          </button>
          <button type="button" class="danger" onClick={confirm}>
            {security.disconnect}
          </button>
        </div>
      </Dialog>
    </>
  );
}

const BADGES = { eligible: 'good', ineligible: 'alarm', unknown: '' } as const;

function Status({ eligibility: { status } }: Pick<Identity, 'eligibility'>) {
  return <span class={`badge ${BADGES[status]}`}>{words.security[status]}</span>;
}

/** When the provider was asked, and when it is asked again. */
function Checks({ eligibility: { checkedAt, nextCheckAt } }: Pick<Identity, 'eligibility'>) {
  const { security } = words;
  const parts = [
    ...(checkedAt === null ? [] : [security.checked(formatRelative(checkedAt))]),
    ...(nextCheckAt === null ? [] : [security.nextCheck(formatRelative(nextCheckAt))]),
  ];
  return parts.length === 0 ? null : (
    <span class="hint" title={formatDate(checkedAt ?? nextCheckAt ?? 0)}>
      {parts.join(' · ')}
    </span>
  );
}
