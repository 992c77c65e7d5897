import type { AdminAccount, AccountAct } from '../../../client/api/admin-client.js';
import { useSession } from '../session.js';
import { texts } from '../words/texts.js';
import { ActButton, type ActResult } from '../act-button.js';

interface ActsProps extends ActResult {
  readonly account: AdminAccount;
}

/** What an administrator may do to an account, each with a reason. */
export function Acts({ account: { id, state, identities }, ...result }: ActsProps) {
  const { client } = useSession();
  const { acts } = texts;
  const offered: readonly Exclude<AccountAct, 'delete'>[] = [
    state === 'disabled' ? 'enable' : 'disable',
    'revoke',
    ...(identities.length === 0 ? [] : (['recheck'] as const)),
  ];
  return (
    <section class="acts" aria-label={acts.label}>
      {offered.map((act) => (
        <ActButton
          key={act}
          texts={acts[act]}
          isDanger={act === 'disable'}
          run={(reason) => client.act(id, act, reason)}
          {...result}
        />
      ))}
      <ActButton
        texts={acts.remove}
        isDanger
        consent={acts.removeConsent}
        run={(reason) => client.act(id, 'delete', reason)}
        {...result}
      />
    </section>
  );
}
