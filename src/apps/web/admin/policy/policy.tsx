import { Head } from '../head.js';
import { NoticeLine } from '../../ui/notice.js';
import { texts } from '../i18n/texts.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { useLive } from '../use-live.js';
import { Findings } from './findings.js';
import { Plan } from './plan.js';
import { Statements } from './statements.js';

export function Policy() {
  const { client } = useSession();
  const live = useLive(() => client.policy(), 'policy');
  const { policy } = texts;
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.policy} live={live} />
      <NoticeLine notice={live.notice} />
      {value === null ? (
        <Skeleton live={live} />
      ) : (
        <>
          <section aria-labelledby="present">
            <h2 id="present">{policy.present}</h2>
            <Statements statements={value.statements} />
          </section>
          <section aria-labelledby="findings">
            <h2 id="findings">{texts.overview.findings}</h2>
            <Findings findings={value.findings} />
          </section>
          <Plan present={value} />
        </>
      )}
    </>
  );
}
