import { t } from '../../i18n/messages.js';
import { Icon } from '../../ui/icon.js';
import { lazyPart } from '../../ui/lazy-part.js';
import type { SectionProps } from '../use-account.js';
import type { ChangeEncryptionProps } from './change-encryption.js';

/** Loaded on demand, because few servers leave the choice to their accounts. */
const ChangeEncryption = lazyPart<ChangeEncryptionProps>(async () => {
  const { ChangeEncryption: loaded } = await import('./change-encryption.js');
  await (await import('../../i18n/encryption-messages.js')).loadEncryptionMessages();
  return loaded;
});

export function Encryption(props: SectionProps) {
  const { profile, features } = props.account;
  const { overview, security } = t;
  const isSealed = profile.encryptionMode === 'e2ee';
  const isChoice = features.capabilities.encryption?.allowAccountOptOut === true;
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
      {isChoice && profile.keyMode === 'keyed' && <ChangeEncryption {...props} />}
    </section>
  );
}
