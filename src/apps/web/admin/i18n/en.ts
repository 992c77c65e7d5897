import { DECISION_MESSAGES } from '../../../../core/policy/messages/decision-messages.js';
import { MESSAGES } from '../../../../core/policy/messages/messages.js';
import type { AdminAccount } from '../../../../packages/client/api/admin-client.js';
import type { InvitationState } from '../invitations/invitation-state.js';

import { actors, audit, kinds } from './en-audit.js';
import { policy } from './en-plan.js';
import { reasons } from './en-reasons.js';
import { programs } from './en-programs.js';
import { signals } from './en-signals.js';

/** English messages of the console, in addition to those of the account page. */
export const en = {
  signIn: {
    title: 'Administration',
    lead: 'Find accounts, see why they are served or refused, and act on them.',
    token: 'Administrator token',
    tokenHint: 'It stays in this tab and is forgotten when you close it.',
    submit: 'Sign in',
    unknown:
      'The server does not know this token. Its operator keeps the tokens in the file that ADMIN_TOKENS_FILE names.',
    notEnded:
      'The server did not answer, so this browser may still be signed in. Load this page again, and sign out.',
  },

  roles: { read: 'Can view', operate: 'Can act' },

  nav: {
    label: 'Administration',
    overview: 'Overview',
    accounts: 'Accounts',
    invitations: 'Invitations',
    backends: 'Backends',
    signals: 'Signals',
    audit: 'Audit trail',
    policy: 'Policy',
  },

  live: {
    fresh: 'Live',
    stale: 'Not up to date',
    hint: 'Updated every five seconds while this page is visible',
  },

  pages: { previous: 'Previous', next: 'Next' },

  lesson: { read: 'Read on:' },

  findings: {
    none: 'Nothing to report about the policy.',
    error: 'Error',
    warning: 'Warning',
    notice: 'Notice',
    dismiss: 'Dismiss',
    dismissNamed: (code: string) => `Dismiss: ${code}`,
    hidden: (count: number) =>
      count === 1
        ? '1 finding is hidden in this browser.'
        : `${count} findings are hidden in this browser.`,
    show: 'Show all',
    more: (count: number) => (count === 1 ? '1 more finding' : `${count} more findings`),
  },

  overview: {
    accounts: 'Accounts',
    all: 'All accounts',
    disabled: 'Disabled',
    ineligible: 'Refused by a provider',
    about: (count: string) => `about ${count}`,
    more: (count: string) => `more than ${count}`,
    empty: 'The first sign-in of a person creates an account. The policy says who may sign in.',
    findings: 'Findings',
    policy: 'See the policy',
  },

  logins: {
    title: 'Sign-ins',
    period: 'Period',
    day: '24 hours',
    week: '7 days',
    logins: 'Signed in',
    refusals: 'Refused',
    sums: (logins: string, refusals: string) => `${logins} sign-ins, ${refusals} refused`,
    since: 'From',
    now: 'now',
  },

  requests: {
    title: 'Requests from programs',
    lead: 'Coding agents and other programs ask people on their devices. Ended requests are counted for an hour.',
    none: 'No program asks now, and none has asked in the last hour.',
    waiting: 'Waiting',
    answered: 'Answered',
    withdrawn: 'Withdrawn',
    expired: 'Expired without an answer',
  },

  rechecks: {
    title: 'Re-checks',
    lead: 'Providers are asked regularly whether people still belong.',
    off: 'Linked identities are not checked again on this server.',
    waiting: 'Due now',
    noneWaits: 'No identity is due.',
    done: 'Done since this replica started',
    noneDone: 'None yet.',
    overdue: 'Overdue by more than a minute',
    due: 'Due',
    oldest: (when: string) => `oldest ${when}`,
    eligible: 'Confirmed',
    ineligible: 'Refused',
    unknown: 'No answer',
    table: 'Show as a table',
    provider: 'Provider',
  },

  health: {
    title: 'Identity providers',
    none: 'No identity provider is configured.',
    required: 'Required',
    failing: 'Failing',
    answers: 'Answering',
    unknown: 'Not used yet',
    answered: (when: string) => `Last answer ${when}`,
    failed: (when: string, cause: string) => `Failed ${when} (${cause})`,
    fails: (when: string, cause: string) => `Failing, last ${when} (${cause})`,
    local: 'Checked by this server',
    silent: 'No request since this replica started',
  },

  accounts: {
    query: 'Find an account',
    queryHint: 'ID, or a part of a login or e-mail address',
    find: 'Find',
    provider: 'Provider',
    anyProvider: 'Any provider',
    state: 'State',
    anyState: 'Any state',
    active: 'Active',
    disabled: 'Disabled',
    ineligible: 'Refused by a provider',
    found: 'Accounts found',
    none: 'No account matches',
    noneHint: 'Logins and e-mail addresses are searched. Upper and lower case do not matter.',
    count: (count: string, total: number) => (total === 1 ? '1 account' : `${count} accounts`),
    more: (count: string) => `More than ${count} accounts`,
    account: 'Account',
    providers: 'Providers',
    noProvider: 'None',
    sessions: 'Sessions',
    lastSeen: 'Last seen',
    unnamed: (id: string) => `Account ${id}`,
  },

  methods: {
    key_challenge: 'Device key',
    mtls: 'Certificate',
    device: 'Approved on another device',
  },

  detail: {
    title: 'Account',
    absent: 'This account does not exist',
    absentHint: 'It was deleted, or the address is wrong.',
    allowed: DECISION_MESSAGES.allowed,
    refused: DECISION_MESSAGES.refused satisfies Record<
      NonNullable<AdminAccount['explain']['code']>,
      string
    >,
    identities: 'Identities',
    noIdentity: 'No provider is connected.',
    facts: 'Rules and facts',
    failures: (count: number) =>
      count === 1 ? '1 check without an answer' : `${count} checks without an answer`,
    sessions: 'Sessions',
    noSession: 'No session is live.',
    unnamedClient: 'Unnamed client',
    signedIn: (when: string) => `signed in ${when}`,
    lastUsed: (when: string) => `last used ${when}`,
    backends: 'Tokens for backends',
    history: 'History',
    allEvents: 'All events',
    keyed: 'With a device key',
    keyless: 'Without a device key',
    e2ee: 'End-to-end encrypted',
    plain: 'Readable by the server',
  },

  acts: {
    label: 'Actions',
    reason: 'Reason',
    reasonHint: 'Kept in the audit trail, with your name.',
    unchanged: 'Nothing changed: it was so already.',
    disable: {
      open: 'Disable…',
      title: 'Disable this account?',
      lead: 'Its sessions and connections end at once, on every replica. It is refused until it is enabled again; its data stays.',
      submit: 'Disable the account',
      done: 'The account is disabled.',
    },
    enable: {
      open: 'Enable…',
      title: 'Enable this account?',
      lead: 'It can sign in again, as far as the policy admits it.',
      submit: 'Enable the account',
      done: 'The account is enabled.',
    },
    revoke: {
      open: 'End all sessions…',
      title: 'End all sessions?',
      lead: 'Every device and program of the account has to sign in again.',
      submit: 'End all sessions',
      done: 'All sessions have ended.',
    },
    recheck: {
      open: 'Check again…',
      title: 'Check the identities again?',
      lead: 'The providers are asked now whether they still confirm this person.',
      submit: 'Check now',
      done: 'The check is requested; its result appears here.',
    },
    remove: {
      open: 'Delete…',
      title: 'Delete this account?',
      lead: 'Everything that the server stores for it is deleted at once. To refuse it without losing data, disable it instead.',
      submit: 'Delete the account',
      done: 'The account is deleted.',
    },
    removeConsent: 'I understand that this cannot be undone',
    endSession: {
      open: 'End…',
      title: 'End this session?',
      lead: 'The device or program has to sign in again.',
      submit: 'End the session',
      done: 'The session has ended.',
    },
    endNamed: (name: string) => `End the session of ${name}`,
  },

  invitations: {
    lead: 'New device keys sign up with them. They are deleted when they expire.',
    off: 'This server does not accept invitations',
    none: 'No invitations yet',
    purpose:
      'Invitations are for a server without an identity provider, such as that of a family or a club: only people with a code can create an account.',
    offStep: 'Start the server with these variables:',
    firstStep: 'Choose “New invitation…” above, or run on the server:',
    note: 'Note',
    noteHint: 'For administrators, for example who is invited. Kept in the audit trail too.',
    unnamed: 'Without a note',
    states: {
      open: 'Open',
      'used-up': 'Used up',
      expired: 'Expired',
      revoked: 'Revoked',
    } satisfies Record<InvitationState, string>,
    used: (used: number, uses: number) => `${used} of ${uses} used`,
    until: (time: string) => `valid until ${time}`,
    createdBy: (name: string, when: string) => `created by ${name} ${when}`,
    create: 'New invitation…',
    createTitle: 'Create an invitation',
    uses: 'Accounts that it can create',
    lifetime: 'Valid for',
    days: (days: number) => (days === 1 ? '1 day' : `${days} days`),
    submit: 'Create the invitation',
    created: 'The invitation is created',
    createdLead: 'Its code is shown only now. Send it to the person you invite.',
    code: 'Code',
    link: 'Link',
    linkHint: 'The link opens the account page and fills the code in.',
    noLink: 'There is no link: it needs SERVICE_PUBLIC_URL and the account page.',
    close: 'I saved it',
    revoke: {
      open: 'Revoke…',
      title: 'Revoke this invitation?',
      lead: 'No more accounts are created with it. The accounts that it created stay.',
      submit: 'Revoke the invitation',
      done: 'The invitation is revoked.',
    },
    revokeNamed: (name: string) => `Revoke the invitation: ${name}`,
  },

  backends: {
    none: 'No backends yet',
    purpose:
      'A backend is a server of yours, such as a relay or a file store, that accepts people who are signed in here. When a person leaves, it learns of that within seconds.',
    firstStep:
      'Describe it in a JSON file, name the file in AUTH_RESOURCE_SERVERS_CONFIG_PATH, and restart the server:',
    address: 'Address',
    providers: 'Required there',
    noProviders: 'What this server requires',
    accounts: 'Accounts',
    everyAccount: 'With and without a device key',
    keyedAccounts: 'Only with a device key',
    claims: 'Personal data in tokens',
    noClaims: 'None',
    tokens: 'Tokens',
    lifetime: (algorithm: string, time: string) => `${algorithm}, valid for ${time}`,
    noRequests: 'No request since this replica started.',
    sinceStart: 'Since this replica started',
    request: 'Request',
    outcome: 'Outcome',
    count: 'Count',
    requests: {
      exchange: 'Token exchange',
      introspection: 'Introspection',
      forward_auth: 'Question of a proxy',
      token: 'Token for the backend itself',
    },
    outcomes: {
      ok: 'Accepted',
      inactive: 'Not valid',
      refused: 'Refused',
      failed: 'Failed',
    },
    streams: 'Streams of ended sessions',
    noStreams: 'No stream: no instance of this backend receives which sessions end.',
    stream: 'Stream',
    created: 'Created',
    lastPoll: 'Last poll',
    paused: (ago: string) => `${ago}, paused`,
    waiting: 'Not acknowledged',
    since: (count: string, oldest: string) => `${count} (oldest ${oldest})`,
    atLeast: (count: string) => `${count} or more`,
    keys: 'Signing keys',
    keysLead: 'A new one is made every 90 days and published a day before it signs.',
    key: 'Key',
    algorithm: 'Algorithm',
    signsFrom: 'Signs from',
  },

  programs,
  signals,

  audit,
  actors,
  kinds,

  reasons,

  policy,

  statements: MESSAGES,
};

/** Every text of the console, in one language. A language that lacks one does not compile. */
export type Texts = typeof en;
