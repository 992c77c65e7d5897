import type { AdminSignals } from '../../../client/api/admin-client.js';

type SignalKind = AdminSignals['providers'][number]['received'][number]['kind'];

/** Texts about signals of leavers. */
export const signals = {
  none: 'No provider reports leavers',
  noneHint:
    'A directory or a provider can report at once that a person leaves. Add to its entry in the providers file:',
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
  deliveries: { push: 'is pushed', poll: 'is polled' },
  failure: (cause: string) => `last request failed: ${cause}`,
  seen: (when: string) => `last sign ${when}`,
  directory: 'Directory',
  people: (count: string, total: number) => (total === 1 ? '1 person' : `${count} people`),
  active: (count: string) => `${count} active`,
  matched: (count: string) => `${count} with an identity`,
  ambiguous: (count: string) => `${count} ambiguous`,
  deactivated: (count: string) => `${count} deactivated within an hour`,
  unmatched: 'Without an identity',
  unmatchedTitle: 'People without an identity',
  unmatchedLead:
    'They have not logged in here, or the attribute that the entry names does not match.',
  userName: 'User name',
  externalId: 'External ID',
  state: 'State',
  changed: 'Changed',
  isActive: 'Active',
  isInactive: 'Deactivated',
  isAmbiguous: (state: string) => `${state}, matches several`,
};
