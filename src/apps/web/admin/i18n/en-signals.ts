import type { AdminSignals } from '../../../../packages/client/api/admin-client.js';

type SignalKind = AdminSignals['providers'][number]['received'][number]['kind'];

/** Texts about signals of leavers. */
export const signals = {
  none: 'No provider reports leavers yet',
  purpose:
    'A provider or its directory can report at once that a person leaves. Without signals, the next re-check notices it.',
  firstStep:
    'Add a section “signals” to the entry of the provider in the providers file, and restart the server. For a directory (SCIM):',
  last: 'Last signal',
  never: 'None yet',
  received: (kind: string, when: string) => `${kind}: ${when}`,
  kinds: {
    webhook: 'Webhook delivery',
    'backchannel-logout': 'Back-channel logout',
    'global-token-revocation': 'Universal logout',
    'shared-signals': 'Security event',
    scim: 'Request of the directory',
  } satisfies Record<SignalKind, string>,
  stream: 'Stream of events',
  unconnected: 'Not connected by this server',
  statuses: {
    enabled: 'Enabled',
    paused: 'Paused',
    disabled: 'Disabled',
    missing: 'Missing at the transmitter',
  },
  deliveries: { push: 'pushed by the provider', poll: 'polled by this server' },
  failure: (cause: string) => `last request failed: ${cause}`,
  seen: (when: string) => `last contact ${when}`,
  directory: 'Directory',
  people: (count: string, total: number) => (total === 1 ? '1 person' : `${count} people`),
  active: (count: string) => `${count} active`,
  matched: (count: string) => `${count} with an identity`,
  ambiguous: (count: string) => `${count} ambiguous`,
  deactivated: (count: string) => `${count} deactivated within an hour`,
  unmatchedTitle: (count: string, total: number) =>
    total === 1 ? '1 person without an identity' : `${count} people without an identity`,
  unmatchedLead:
    'They have not signed in here, or the attribute that the entry names does not match.',
  state: 'State',
  changed: 'Changed',
  isActive: 'Active',
  isInactive: 'Deactivated',
  isAmbiguous: (state: string) => `${state}, matches several`,
  isEnded: 'Deactivated, refusal ended',
  isRefused: 'Active, refused by an event',
  act: 'Action',
  endRefusal: {
    open: 'End the refusal…',
    title: 'End the refusal of this person?',
    lead: 'The rules decide about the next sign-in. A later request of the directory, or another event, refuses the person again.',
    submit: 'End the refusal',
    done: 'The refusal has ended.',
  },
  endRefusalOf: (name: string) => `End the refusal of ${name}`,
  endOther: {
    open: 'End another refusal…',
    title: 'End the refusal of a person without an account?',
    lead: 'For people who are not in the list: events about unknown addresses, and people who were deleted from the directory or tried to sign in.',
  },
  endOtherAt: (provider: string) => `End another refusal at ${provider}`,
  person: 'Person',
  personHint: 'Subject, external ID, user name or e-mail address, as the audit trail shows it.',
};
