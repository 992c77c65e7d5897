import type { AdminPolicy } from '../../client/api/admin-client.js';
import { Icon } from '../ui/icon.js';
import { texts } from './words/texts.js';

type Finding = AdminPolicy['findings'][number];

const TONES = { error: 'alarm', warning: 'caution', notice: '' } as const;

/** What the server finds about its policy, in its own words. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) {
    return (
      <p class="fine">
        <Icon name="check" />
        {texts.findings.none}
      </p>
    );
  }
  return (
    <ul class="findings">
      {findings.map(({ severity, code, message }) => (
        <li key={`${code} ${message}`}>
          <span class={`badge ${TONES[severity]}`}>{texts.findings[severity]}</span>
          <div lang="en">
            <span>{message}</span>
            <code class="hint">{code}</code>
          </div>
        </li>
      ))}
    </ul>
  );
}
