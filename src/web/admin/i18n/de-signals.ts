import type { Texts } from './en.js';

/** German texts about signals of leavers. */
export const signals: Texts['signals'] = {
  none: 'Kein Anbieter meldet, wer geht',
  noneHint:
    'Ein Verzeichnis oder ein Anbieter kann sofort melden, dass jemand geht. Ergänzen Sie seinen Eintrag in der Anbieterdatei um:',
  last: 'Letztes Signal',
  never: 'Noch keines',
  received: (kind, when) => `${kind}: ${when}`,
  kinds: {
    webhook: 'Webhook',
    'backchannel-logout': 'Back-Channel-Logout',
    'global-token-revocation': 'Universal Logout',
    'shared-signals': 'Sicherheitsereignis',
    scim: 'Anfrage des Verzeichnisses',
  },
  stream: 'Ereignisstrom',
  unconnected: 'Nicht von diesem Server verbunden',
  statuses: {
    enabled: 'Aktiv',
    paused: 'Angehalten',
    disabled: 'Abgeschaltet',
    missing: 'Beim Sender nicht vorhanden',
  },
  deliveries: { push: 'wird zugestellt', poll: 'wird abgefragt' },
  failure: (cause) => `letzte Anfrage fehlgeschlagen: ${cause}`,
  seen: (when) => `letztes Lebenszeichen ${when}`,
  directory: 'Verzeichnis',
  people: (count, total) => (total === 1 ? '1 Person' : `${count} Personen`),
  active: (count) => `${count} aktiv`,
  matched: (count) => `${count} mit Identität`,
  ambiguous: (count) => `${count} mehrdeutig`,
  deactivated: (count) => `${count} innerhalb einer Stunde deaktiviert`,
  unmatched: 'Ohne Identität',
  unmatchedTitle: 'Personen ohne Identität',
  unmatchedLead:
    'Sie haben sich hier nicht angemeldet, oder das Attribut, das der Eintrag nennt, passt nicht.',
  userName: 'Benutzername',
  externalId: 'Externe ID',
  state: 'Zustand',
  changed: 'Geändert',
  isActive: 'Aktiv',
  isInactive: 'Deaktiviert',
  isAmbiguous: (state) => `${state}, passt zu mehreren`,
};
