import type { AccountProfile } from '../../../../packages/client/api/api-client-answers.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { DialogButton } from '../../ui/dialog.js';
import { Tile } from '../../ui/icon.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { formatDate, formatPast, formatUpcoming, joinFacts } from '../../i18n/format.js';
import { t } from '../../i18n/messages.js';
import { goToConnect } from './go-to-connect.js';
import { CERTIFICATE } from '../tab-state.js';
import type { Account, SectionProps } from '../use-account.js';
import { Section } from '../../ui/section.js';
import { FormButtons } from '../../ui/form-buttons.js';
import { Badge } from '../../ui/badge.js';

type Identity = AccountProfile['identities'][number];

export function Identities(props: SectionProps) {
  const { notice, isBusy, run } = useNotedAction(props.endSession);
  const { account, session } = props;
  const { identities } = account.profile;
  const rowOf = (id: string) => ({ ...factsOf(account, id), isBusy });
  const unlinked = connectable(account);
  if (identities.length + unlinked.length === 0) {
    return null;
  }
  return (
    <Section id="identities" title={t.security.identities} lead={t.security.identitiesLead}>
      <ul>
        {identities.map((identity) => (
          <Linked
            key={identity.provider}
            identity={identity}
            {...rowOf(identity.provider)}
            isLast={isLastWayIn(account, identity.provider)}
            isKeyless={account.profile.keyMode === 'keyless'}
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
    </Section>
  );
}

async function disconnect(props: SectionProps, id: string): Promise<void> {
  const { account, session, notify, reload } = props;
  const { connect, certificate } = clientFor(session.token);
  await (id === CERTIFICATE ? certificate.disconnect() : connect.disconnect(id));
  notify(done(() => t.security.disconnected(factsOf(account, id).name)));
  reload();
}

function factsOf({ features }: Account, id: string) {
  const { providers = {}, login } = features.capabilities.auth;
  const isCertificate = id === CERTIFICATE;
  return {
    name: providers[id]?.displayName ?? (isCertificate ? t.security.certificate : id),
    isCertificate,
    isRequired: login?.requiredProviders?.includes(id) ?? false,
  };
}

/** Returns true if the server would refuse to unlink it, because nothing else opens the account. */
function isLastWayIn({ profile, features }: Account, id: string): boolean {
  const opens = (provider: string) =>
    features.capabilities.auth.methods.some(
      ({ method, action, mode }) => method === provider && action === 'login' && mode === 'keyless',
    );
  return (
    profile.keyMode === 'keyless' &&
    !profile.identities.some(({ provider }) => provider !== id && opens(provider))
  );
}

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

interface RowProps {
  readonly name: string;
  readonly isCertificate: boolean;
  readonly isRequired: boolean;
  readonly isBusy: boolean;
}

function Unlinked(props: RowProps & { readonly connect: () => void }) {
  const { name, isCertificate, isRequired, isBusy, connect } = props;
  const { security } = t;
  return (
    <li>
      <Tile name={isCertificate ? 'certificate' : 'person'} />
      <div>
        <strong>{name}</strong>
        {isRequired ? (
          <Badge tone="caution" icon="alert" text={security.requiredHint} />
        ) : (
          <span class="quiet">{security.notConnected}</span>
        )}
      </div>
      <Button
        class={isRequired ? 'primary' : ''}
        aria-label={security.connectNamed(name)}
        disabled={isBusy}
        onClick={connect}
        text={security.connect}
      />
    </li>
  );
}

interface LinkedProps extends RowProps {
  readonly identity: Identity;
  /** True if nothing else signs in to the account. */
  readonly isLast: boolean;
  /** True if sessions that began with it end with it. */
  readonly isKeyless: boolean;
  readonly disconnect: () => void;
}

function Linked({ identity, isLast, isCertificate, ...row }: LinkedProps) {
  const { security } = t;
  const { name, isRequired } = row;
  const { login, eligibility } = identity;
  return (
    <li>
      <Tile name={isCertificate ? 'certificate' : 'person'} isAccented />
      <div>
        <span class="titled">
          <strong>{name}</strong>
          <span class={`badge ${BADGES[eligibility.status]}`}>{security[eligibility.status]}</span>
          {isRequired && <span class="badge">{security.required}</span>}
        </span>
        {login !== null && <span>{login}</span>}
        <Checks eligibility={eligibility} />
        {isLast && <span class="hint">{security.lastIdentity}</span>}
      </div>
      {!isLast && (
        <div class="row">
          <Disconnect {...row} />
        </div>
      )}
    </li>
  );
}

type DisconnectProps = Omit<LinkedProps, 'identity' | 'isCertificate' | 'isLast'>;

/** Asks for confirmation, because access may depend on the provider. */
function Disconnect({ name, isRequired, isKeyless, isBusy, disconnect }: DisconnectProps) {
  const { security } = t;
  return (
    <DialogButton
      open={security.disconnect}
      title={security.disconnectTitle(name)}
      aria-label={security.disconnectNamed(name)}
      disabled={isBusy}
    >
      {(close) => (
        <>
          <p>{isRequired ? security.disconnectLoss : security.disconnectHint}</p>
          {isKeyless && <p>{security.disconnectEnds}</p>}
          <FormButtons
            close={close}
            submit={security.disconnect}
            confirm={() => {
              close();
              disconnect();
            }}
            kind="danger"
          />
        </>
      )}
    </DialogButton>
  );
}

const BADGES = { eligible: 'good', ineligible: 'alarm', unknown: '' } as const;

function Checks({ eligibility: { checkedAt, nextCheckAt } }: Pick<Identity, 'eligibility'>) {
  const facts = joinFacts(
    checkedAt !== null && t.security.checked(formatPast(checkedAt)),
    nextCheckAt !== null && t.security.nextCheck(formatUpcoming(nextCheckAt)),
  );
  return facts === '' ? null : (
    <span class="hint" title={formatDate(checkedAt ?? nextCheckAt ?? 0)}>
      {facts}
    </span>
  );
}
