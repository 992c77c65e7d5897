import { NoticeLine } from '../../ui/notice.js';
import { Findings } from '../findings.js';
import { Head } from '../head.js';
import { listAddress } from '../route.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { useLive } from '../use-live.js';
import { texts } from '../words/texts.js';
import { AccountStates } from './account-states.js';
import { ProviderHealth } from './provider-health.js';
import { Rechecks } from './rechecks.js';

/** What an administrator looks at first: how many accounts, and what does not work. */
export function Overview() {
  const { client } = useSession();
  const live = useLive(async () => {
    const [overview, { providers }, policy] = await Promise.all([
      client.overview(),
      client.providers(),
      client.policy(),
    ]);
    return { ...overview, providers, findings: policy.findings };
  }, 'overview');
  const { overview } = texts;
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.overview} live={live} />
      <NoticeLine notice={live.notice} />
      {value === null ? (
        <Skeleton live={live} />
      ) : (
        <>
          <AccountStates counts={value.accounts} />
          <Rechecks providers={value.providers} isOn={value.isOffboardingOn} />
          <ProviderHealth providers={value.providers} />
          <section aria-labelledby="findings">
            <div class="card-head">
              <h2 id="findings">{overview.findings}</h2>
              <a href={listAddress('policy', {})}>{overview.policy}</a>
            </div>
            <Findings findings={value.findings} />
          </section>
        </>
      )}
    </>
  );
}
