import { useRef, useState } from 'preact/hooks';
import type { AdminPolicy } from '../../../../packages/client/api/admin-client.js';
import { Icon } from '../../ui/icon.js';
import { texts } from '../i18n/texts.js';
import { useMessages } from './statements.js';

type Finding = AdminPolicy['findings'][number];

const TONES = { error: 'alarm', warning: 'caution', notice: '' } as const;

interface FindingsProps {
  readonly findings: readonly Finding[];
}

export function Findings({ findings }: FindingsProps) {
  return findings.length === 0 ? <None /> : <List findings={findings} />;
}

/** Findings that this browser can hide, except errors: users are locked out, or a rule fails. */
export function DismissibleFindings({ findings }: FindingsProps) {
  const { has, dismiss, restore } = useDismissed();
  const list = useRef<HTMLDivElement>(null);
  const shown = findings.filter((one) => one.severity === 'error' || !has(contentOf(one)));
  const hidden = findings.length - shown.length;
  // The pressed button disappears with its finding.
  const then = (act: () => void) => {
    act();
    list.current?.focus();
  };
  return (
    <div ref={list} tabIndex={-1} class="dismissible">
      {findings.length === 0 && <None />}
      {shown.length > 0 && (
        <List findings={shown} dismiss={(one) => then(() => dismiss(contentOf(one)))} />
      )}
      {hidden > 0 && (
        <p class="row quiet">
          {texts.findings.hidden(hidden)}
          <button type="button" class="link" onClick={() => then(restore)}>
            {texts.findings.show}
          </button>
        </p>
      )}
    </div>
  );
}

function contentOf({ severity, code, params, message }: Finding): string {
  return JSON.stringify([severity, code, params, message]);
}

function None() {
  return (
    <p class="fine">
      <Icon name="check" />
      {texts.findings.none}
    </p>
  );
}

interface ListProps extends FindingsProps {
  readonly dismiss?: (finding: Finding) => void;
}

function List({ findings, dismiss }: ListProps) {
  const messageOf = useMessages();
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.code} ${finding.message}`}>
          <span class={`badge ${TONES[finding.severity]}`}>{texts.findings[finding.severity]}</span>
          <div>
            <span>{messageOf(finding)}</span>
            <code class="hint">{finding.code}</code>
          </div>
          {dismiss !== undefined && finding.severity !== 'error' && (
            <button
              type="button"
              class="small"
              aria-label={texts.findings.dismissNamed(finding.code)}
              onClick={() => dismiss(finding)}
            >
              {texts.findings.dismiss}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const STORAGE_KEY = 'gatehouse.dismissed-findings';
/** Findings that the storage keeps, the newest ones. */
const MAX_KEPT = 200;

/** Reads what this browser has dismissed, by content: a finding that changes is shown again. */
function useDismissed() {
  const [contents, setContents] = useState(read);
  const store = (next: readonly string[]) => {
    setContents(next);
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
    } catch {
      // Without storage it lasts until the page is left.
    }
  };
  return {
    has: (content: string) => contents.includes(content),
    dismiss: (content: string) => store([...contents, content].slice(-MAX_KEPT)),
    restore: () => store([]),
  };
}

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
