import { markLine, textOfLine } from '../../../../packages/client/approvals/marked-text.js';
import { summaryOf } from '../../../../packages/client/approvals/show-request.js';
import type { AgentRequest } from '../../../../core/protocol/agent-request.js';
import { formatPast } from '../../i18n/format.js';
import { requestMessages } from '../../i18n/request-messages.js';
import { Icon, type IconName, Tile } from '../../ui/icon.js';
import { Section } from '../../ui/section.js';
import { requestHash } from './request-address.js';
import type { RequestEnd, RequestItem } from './use-requests.js';
import { Badge, type BadgeProps } from '../../ui/badge.js';

/** The requests, the newest first: an answered one keeps its place. */
export function RequestList({ items }: { readonly items: readonly RequestItem[] }) {
  const { list } = requestMessages;
  return (
    <Section id="waiting-requests" title={list.title} lead={list.lead}>
      {items.length === 0 ? (
        <div class="empty">
          <Icon name="check" />
          <strong>{list.none}</strong>
          <span>{list.noneHint}</span>
        </div>
      ) : (
        <ul class="requests">
          {items.map((item) => (
            <Row key={item.id} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Row({ item: { id, found, end } }: { readonly item: RequestItem }) {
  const { list } = requestMessages;
  const opened = found.kind === 'opened' ? found.request : null;
  return (
    <li class={end === null ? undefined : 'ended'}>
      <Tile name={opened === null ? 'lock' : ICONS[opened.kind]} isAccented={end === null} />
      <div>
        <a href={requestHash(id)}>
          {opened === null ? list.sealed : <bdi class="summary">{summaryOf(opened)}</bdi>}
        </a>
        {opened !== null && (
          <span class="hint">
            <bdi>{onLine(opened.host)}</bdi> · <bdi>{onLine(opened.cwd)}</bdi>
          </span>
        )}
        {/* One line in any state, so that no other request moves when this one ends. */}
        <span class="hint state">
          {end === null ? (
            found.stored !== null && list.asked(formatPast(found.stored.createdAt))
          ) : (
            <EndBadge end={end} />
          )}
        </span>
      </div>
    </li>
  );
}

function onLine(text: string): string {
  return textOfLine(markLine(text, 'command'));
}

const ICONS: Readonly<Record<AgentRequest['kind'], IconName>> = {
  permission: 'terminal',
  user_action: 'bell',
};

export function EndBadge({ end }: { readonly end: RequestEnd }) {
  return <Badge {...BADGES[end.kind]} text={requestMessages.ends[end.kind]} />;
}

const BADGES: Readonly<Record<RequestEnd['kind'], Pick<BadgeProps, 'tone' | 'icon'>>> = {
  sent: { tone: 'accent', icon: 'check' },
  taken: { tone: 'good', icon: 'check' },
  answered: { icon: 'check' },
  withdrawn: { icon: 'exit' },
  expired: { tone: 'caution', icon: 'alert' },
};
