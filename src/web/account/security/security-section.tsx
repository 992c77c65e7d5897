import { Icon } from '../../ui/icon.js';
import { words } from '../../words/words.js';
import type { Account, SectionProps } from '../use-account.js';
import { CheckKey } from './check-key.js';
import { DeleteAccount } from './delete-account.js';
import { Identities } from './identities.js';
import { SignOutEverywhere } from './sign-out.js';

/** What protects the account, and how to end it. */
export function SecuritySection(props: SectionProps) {
  const { account, endings, session } = props;
  const { security } = words;
  return (
    <>
      <Identities {...props} />
      <Encryption account={account} />
      {account.profile.keyMode === 'keyed' && <CheckKey accountId={session.accountId} />}
      <section aria-labelledby="sign-out">
        <div class="card-head">
          <div>
            <h2 id="sign-out">{security.sessions}</h2>
            <p class="quiet">{security.sessionsLead}</p>
          </div>
          <SignOutEverywhere endings={endings} />
        </div>
      </section>
      <DeleteAccount endings={endings} />
    </>
  );
}

function Encryption({ account: { profile } }: { readonly account: Account }) {
  const { overview, security } = words;
  const isSealed = profile.encryptionMode === 'e2ee';
  return (
    <section aria-labelledby="encryption">
      <div class="card-head">
        <h2 id="encryption">{security.encryption}</h2>
        <span class={isSealed ? 'badge accent' : 'badge'}>
          <Icon name={isSealed ? 'lock' : 'shield'} />
          {isSealed ? overview.e2ee : overview.plain}
        </span>
      </div>
      <p>{isSealed ? security.e2ee : security.plain}</p>
    </section>
  );
}
