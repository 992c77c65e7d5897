import type { Texts } from './en.js';

/** German texts about signals of leavers. */
export const signals: Texts['signals'] = {
  none: 'Noch kein Anbieter meldet, wer ausscheidet',
  purpose:
    'Ein Anbieter oder sein Verzeichnis kann sofort melden, dass jemand ausscheidet. Ohne Signale bemerkt es erst die nächste Prüfung.',
  firstStep:
    'Ergänzen Sie den Eintrag des Anbieters in der Anbieterdatei um „signals“, und starten Sie den Server neu. Für ein Verzeichnis (SCIM):',
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
  deliveries: { push: 'vom Anbieter zugestellt', poll: 'von diesem Server abgefragt' },
  failure: (cause) => `letzte Anfrage fehlgeschlagen: ${cause}`,
  seen: (when) => `letzter Kontakt ${when}`,
  directory: 'Verzeichnis',
  people: (count, total) => (total === 1 ? '1 Person' : `${count} Personen`),
  active: (count) => `${count} aktiv`,
  matched: (count) => `${count} mit Identität`,
  ambiguous: (count) => `${count} mehrdeutig`,
  deactivated: (count) => `${count} innerhalb einer Stunde deaktiviert`,
  unmatchedTitle: (count, total) =>
    total === 1 ? '1 Person ohne Identität' : `${count} Personen ohne Identität`,
  unmatchedLead:
    'Sie haben sich hier nicht angemeldet, oder das Attribut, das der Eintrag nennt, passt nicht.',
  state: 'Zustand',
  changed: 'Geändert',
  isActive: 'Aktiv',
  isInactive: 'Deaktiviert',
  isAmbiguous: (state) => `${state}, passt zu mehreren`,
  isEnded: 'Deaktiviert, Ablehnung beendet',
  isRefused: 'Aktiv, durch ein Ereignis abgelehnt',
  act: 'Aktion',
  endRefusal: {
    open: 'Ablehnung beenden …',
    title: 'Ablehnung dieser Person beenden?',
    lead: 'Über die nächste Anmeldung entscheiden die Regeln. Eine spätere Anfrage des Verzeichnisses oder ein weiteres Ereignis lehnt die Person wieder ab.',
    submit: 'Ablehnung beenden',
    done: 'Die Ablehnung ist beendet.',
  },
  endRefusalOf: (name) => `Ablehnung beenden: ${name}`,
  endOther: {
    open: 'Andere Ablehnung beenden …',
    title: 'Ablehnung einer Person ohne Konto beenden?',
    lead: 'Für Personen, die nicht in der Liste stehen: Ereignisse zu unbekannten Adressen, und Personen, die aus dem Verzeichnis gelöscht wurden oder sich anmelden wollten.',
  },
  endOtherAt: (provider) => `Andere Ablehnung beenden: ${provider}`,
  person: 'Person',
  personHint:
    'Kennung beim Anbieter, externe ID, Benutzername oder E-Mail-Adresse, wie im Protokoll.',
};
