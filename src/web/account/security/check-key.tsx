import { useState } from 'preact/hooks';
import type { DeviceKey } from '../../../client/crypto/device-key.js';
import { done, NoticeLine } from '../../ui/notice.js';
import { words } from '../../words/words.js';
import { requireOwnKey } from '../own-key.js';
import { KeyForm } from '../key-forms.js';
import { KeyView } from '../key-view.js';

/** Checks a key against the account, and shows and prints it: this page keeps none. */
export function CheckKey({ accountId }: { readonly accountId: string }) {
  const [key, setKey] = useState<DeviceKey | null>(null);
  const { security } = words;
  const check = async (typed: DeviceKey) => {
    await requireOwnKey(typed, accountId);
    setKey(typed);
  };
  return (
    <section aria-labelledby="check-key">
      <div class="lead">
        <h2 id="check-key">{security.key}</h2>
        <p class="quiet">{security.keyLead}</p>
      </div>
      {key === null ? (
        <KeyForm use={check} label={security.keyCheck} isSecondary />
      ) : (
        <>
          <NoticeLine notice={done(security.keyRight)} />
          <div class="field">
            <label for="own-key">{security.keyView}</label>
            <KeyView id="own-key" secret={key.secret} />
          </div>
        </>
      )}
    </section>
  );
}
