import { Head } from '../head.js';
import { texts } from '../i18n/texts.js';
import { useSession } from '../session.js';
import { LiveNotice, useLive } from '../use-live.js';
import { Findings } from './findings.js';
import { Plan } from './plan.js';
import { Rules } from './rules.js';
import { Button } from '../../ui/button.js';
import { Section } from '../../ui/section.js';

export function Policy() {
  const { client } = useSession();
  const live = useLive(() => client.policy(), 'policy');
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.policy} live={live} />
      <LiveNotice live={live} />
      {value !== null && (
        <>
          <Contents findings={value.findings.length} />
          <Section id="present" title={texts.policy.present}>
            <Rules statements={value.statements} />
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

/** The parts of the page, which is long. The fragment of the address names the page, so each link is a button. */
function Contents({ findings }: { readonly findings: number }) {
  const { policy, overview } = texts;
  const parts = [
    ['present', policy.present],
    ['findings', findings === 0 ? overview.findings : `${overview.findings} (${findings})`],
    ['plan', policy.plan],
  ] as const;
  return (
    <nav class="row" aria-label={policy.contents}>
      {parts.map(([id, title]) => (
        <Button key={id} class="link" onClick={() => show(id)} text={title} />
      ))}
    </nav>
  );
}

function show(id: string): void {
  const heading = document.getElementById(id);
  if (heading !== null) {
    heading.tabIndex = -1;
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  }
}
