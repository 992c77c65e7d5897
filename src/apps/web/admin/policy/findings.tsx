import { useRef, useState } from 'preact/hooks';
import type { AdminPolicy } from '../../../../packages/client/api/admin-client.js';
import { Button } from '../../ui/button.js';
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

/** More findings, unless they are errors, would leave no room for the numbers below them. */
const MAX_SHOWN = 3;

/**
 * The first findings, with only their headlines. Errors are whole and stay, because users are
 * locked out, or a rule fails. This browser can hide the others.
 */
export function DismissibleFindings({ findings }: FindingsProps) {
  const { has, dismiss, restore } = useDismissed();
  const list = useRef<HTMLDivElement>(null);
  const shown = findings.filter((one) => one.severity === 'error' || !has(contentOf(one)));
  const hidden = findings.length - shown.length;
  const errors = shown.filter(({ severity }) => severity === 'error');
  const first = shown.slice(0, Math.max(MAX_SHOWN, errors.length));
  const others = shown.slice(first.length);
  // The pressed button disappears with its finding.
  const then = (act: () => void) => {
    act();
    list.current?.focus();
  };
  const hide = (finding: Finding) => then(() => dismiss(contentOf(finding)));
  return (
    <div ref={list} tabIndex={-1} class="dismissible">
      {findings.length === 0 && <None />}
      {first.length > 0 && <List findings={first} dismiss={hide} />}
      {others.length > 0 && (
        <details>
          <summary>{texts.findings.more(others.length)}</summary>
          <List findings={others} dismiss={hide} />
        </details>
      )}
      {hidden > 0 && (
        <p class="row quiet">
          {texts.findings.hidden(hidden)}
          <Button class="link" onClick={() => then(restore)} text={texts.findings.show} />
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
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.code} ${finding.message}`}>
          {dismiss === undefined || finding.severity === 'error' ? (
            <Whole finding={finding} />
          ) : (
            <Folded finding={finding} dismiss={() => dismiss(finding)} />
          )}
        </li>
      ))}
    </ul>
  );
}

interface FindingProps {
  readonly finding: Finding;
}

function Severity({ finding: { severity } }: FindingProps) {
  return <span class={`badge ${TONES[severity]}`}>{texts.findings[severity]}</span>;
}

function Whole({ finding }: FindingProps) {
  const messageOf = useMessages();
  return (
    <>
      <Severity finding={finding} />
      <div>
        <span>{messageOf(finding)}</span>
        <code class="hint">{finding.code}</code>
      </div>
    </>
  );
}

/** A finding states a fact before the first colon, and what follows from it after that. */
function Folded({ finding, dismiss }: FindingProps & { readonly dismiss: () => void }) {
  const messageOf = useMessages();
  const [fact = '', ...rest] = messageOf(finding).split(': ');
  return (
    <details class="whole">
      <summary>
        <Severity finding={finding} />
        <span>{fact}</span>
      </summary>
      {rest.length > 0 && <p class="consequence">{rest.join(': ')}</p>}
      <p class="row">
        <code class="hint">{finding.code}</code>
        <Button
          class="small"
          aria-label={texts.findings.dismissNamed(finding.code)}
          onClick={dismiss}
          text={texts.findings.dismiss}
        />
      </p>
    </details>
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
