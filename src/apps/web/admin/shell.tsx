import type { ComponentType } from 'preact';
import { Brand } from '../brand.js';
import { Icon, type IconName } from '../ui/icon.js';
import { LanguageChoice } from '../ui/language-choice.js';
import { problem, useAction } from '../ui/notice.js';
import { requiresSignIn } from '../i18n/failure.js';
import { t } from '../i18n/messages.js';
import { Account } from './accounts/account.js';
import { Accounts } from './accounts/accounts.js';
import { Audit } from './audit/audit.js';
import { Backends } from './backends/backends.js';
import { Invitations } from './invitations/invitations.js';
import { Overview } from './overview/overview.js';
import { Signals } from './signals/signals.js';
import { Policy } from './policy/policy.js';
import { SECTIONS, useRoute, type Filter, type Section } from './route.js';
import { useSession } from './session.js';
import { texts } from './i18n/texts.js';

const CONTENT: Readonly<Record<Section, ComponentType<{ readonly filter: Filter }>>> = {
  overview: Overview,
  accounts: Accounts,
  invitations: Invitations,
  backends: Backends,
  signals: Signals,
  audit: Audit,
  policy: Policy,
};

const ICONS: Readonly<Record<Section, IconName>> = {
  overview: 'home',
  accounts: 'person',
  invitations: 'ticket',
  backends: 'server',
  signals: 'bell',
  audit: 'list',
  policy: 'shield',
};

export function Shell() {
  const { section, accountId, filter } = useRoute();
  const Content = CONTENT[section];
  return (
    <>
      <header class="topbar">
        <Brand withHost />
        <Caller />
        <div class="row">
          <LanguageChoice />
          <SignOut />
        </div>
      </header>
      <div class="frame">
        <nav class="tabs" aria-label={texts.nav.label}>
          {SECTIONS.map((one) => (
            <a key={one} href={`#${one}`} aria-current={one === section ? 'page' : undefined}>
              <Icon name={ICONS[one]} />
              {texts.nav[one]}
            </a>
          ))}
        </nav>
        <main>
          {accountId === null ? (
            <Content key={section} filter={filter} />
          ) : (
            <Account key={accountId} id={accountId} />
          )}
        </main>
      </div>
    </>
  );
}

function Caller() {
  const { caller } = useSession();
  return (
    <span class="caller">
      <span class="name" title={caller.name}>
        {caller.name}
      </span>
      <span class={caller.role === 'operate' ? 'badge accent' : 'badge'}>
        {texts.roles[caller.role]}
      </span>
    </span>
  );
}

const why = (error: unknown): unknown => error;

/** Hidden with a certificate, which the browser would send again. */
function SignOut() {
  const { client, caller, end } = useSession();
  const { isBusy, run } = useAction(end);
  if (caller.method === 'certificate') {
    return null;
  }
  const signOut = () =>
    run(async () => {
      const error = caller.method === 'login' ? await client.logout().then(() => null, why) : null;
      // The next person begins with the overview, and reads no filter of this one.
      history.replaceState(null, '', location.pathname);
      // The browser keeps the cookie of the session: only an answer of the server removes it.
      end(error === null || requiresSignIn(error) ? null : problem(() => texts.signIn.notEnded));
    });
  return (
    <button type="button" disabled={isBusy} onClick={signOut}>
      <Icon name="exit" />
      <span>{t.signOut}</span>
    </button>
  );
}
