import { NoticeLine } from '../../ui/notice.js';
import { Findings } from '../findings.js';
import { Head } from '../head.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { useLive } from '../use-live.js';
import { texts } from '../words/texts.js';
import { Plan } from './plan.js';

/** Who may sign in, in sentences, and what other variables would change. */
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
            <ul class="plain-list" lang="en">
              {value.sentences.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
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
