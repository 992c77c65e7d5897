import { Head } from '../head.js';
import { texts } from '../i18n/texts.js';
import { useSession } from '../session.js';
import { LiveNotice } from '../live-notice.js';
import { useLive } from '../use-live.js';
import { Findings } from './findings.js';
import { Plan } from './plan.js';
import { Statements } from './statements.js';
import { Section } from '../../ui/section.js';

export function Policy() {
  const { client } = useSession();
  const live = useLive(() => client.policy(), 'policy');
  const { policy } = texts;
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.policy} live={live} />
      <LiveNotice live={live} />
      {value !== null && (
        <>
          <Section id="present" title={policy.present}>
            <Statements statements={value.statements} />
          </Section>
          <Section id="findings" title={texts.overview.findings}>
            <Findings findings={value.findings} />
          </Section>
          <Plan present={value} />
        </>
      )}
    </>
  );
}
