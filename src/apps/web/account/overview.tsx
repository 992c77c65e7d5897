import { Icon, type IconName, Tile } from '../ui/icon.js';
import { CopyButton } from '../ui/copy-button.js';
import { formatDay } from '../i18n/format.js';
import { t } from '../i18n/messages.js';
import type { ListedRequest } from '../../../packages/client/approvals/request-routes.js';
import { requestHash } from './approvals/request-address.js';
import { accountMode } from './account-pins.js';
import type { Account, SectionProps } from './use-account.js';
import { Section } from '../ui/section.js';
import { ModeBadge } from './security/mode-badge.js';

export function Overview({ account, session, waiting }: SectionProps) {
  return (
    <>
      <Next account={account} session={session} waiting={waiting} />
      <Profile account={account} />
      {account.refusal === null && <Counts account={account} />}
    </>
  );
}

function Profile({ account: { profile } }: { readonly account: Account }) {
  const { overview } = t;
  const name = profile.identities.find(({ login }) => login !== null)?.login ?? null;
  return (
    <section aria-label={overview.details}>
      <div class="profile">
        <span class="initial" aria-hidden="true">
          {name === null ? <Icon name="person" /> : [...name].slice(0, 1).join('').toUpperCase()}
        </span>
        <div>
          <h2>{name ?? overview.unnamed(profile.id.slice(0, 8))}</h2>
          <p class="titled">
            <ModeBadge mode={accountMode(profile)} />
            <span class="badge">
              {profile.keyMode === 'keyed' ? overview.keyed : overview.keyless}
            </span>
          </p>
        </div>
      </div>
      <dl>
        <dt>{overview.id}</dt>
        <dd class="titled">
          <span class="code">{profile.id}</span>
          <CopyButton text={profile.id} label={overview.id} />
        </dd>
        <dt>{overview.created}</dt>
        <dd>{formatDay(profile.createdAt)}</dd>
      </dl>
    </section>
  );
}

type NextProps = Pick<SectionProps, 'account' | 'session' | 'waiting'>;

function Next({ account, session, waiting }: NextProps) {
  const { devices, profile, refusal } = account;
  const { overview } = t;
  const tasks = [
    ...requestsTask(waiting ?? []),
    profile.keyMode === 'keyed' &&
      session.isKeyEntered !== true && {
        icon: 'key',
        title: overview.checkKey,
        hint: overview.checkKeyHint,
        href: '#security',
      },
    refusal === null &&
      devices.length === 0 && {
        icon: 'bell',
        title: overview.notify,
        hint: overview.notifyHint,
        href: '#notifications',
      },
  ].filter((task) => task !== false) as readonly TaskProps[];
  return tasks.length === 0 ? null : (
    <Section id="next" title={overview.next}>
      <ul>
        {tasks.map((task) => (
          <Task key={task.title} {...task} />
        ))}
      </ul>
    </Section>
  );
}

function requestsTask([first, ...others]: readonly ListedRequest[]): readonly TaskProps[] {
  return first === undefined
    ? []
    : [
        {
          icon: 'inbox',
          title: t.overview.waiting(1 + others.length),
          hint: t.overview.waitingHint,
          href: others.length === 0 ? requestHash(first.id) : '#requests',
        },
      ];
}

interface TaskProps {
  readonly icon: IconName;
  readonly title: string;
  readonly hint: string;
  readonly href: string;
}

function Task({ icon, title, hint, href }: TaskProps) {
  return (
    <li>
      <Tile name={icon} isAccented />
      <div>
        <a href={href}>{title}</a>
        <span class="hint">{hint}</span>
      </div>
    </li>
  );
}

function Counts({ account: { sessions, devices } }: { readonly account: Account }) {
  const { overview } = t;
  return (
    <div class="pair">
      <a class="card count" href="#devices">
        <strong>{overview.sessions(sessions.length)}</strong>
        <span class="hint">{overview.sessionsHint}</span>
        <Icon name="forward" />
      </a>
      <a class="card count" href="#devices">
        <strong>{overview.devices(devices.length)}</strong>
        <span class="hint">{overview.devicesHint}</span>
        <Icon name="forward" />
      </a>
    </div>
  );
}
