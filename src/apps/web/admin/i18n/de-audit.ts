import type { Texts } from './en.js';

/** German texts of the audit trail. */
export const audit: Texts['audit'] = {
  events: 'Ereignisse',
  none: 'Noch keine Ereignisse',
  purpose:
    'Das Protokoll zeigt, wer sich registriert oder angemeldet hat oder abgelehnt wurde, und was die Verwaltung getan hat, mit dem Grund.',
  firstStep: 'Die erste Anmeldung erscheint hier sofort. In der Befehlszeile:',
  noMatch: 'Kein Ereignis passt zum Filter',
  noMatchHint:
    'Leeren Sie ein Feld, oder wählen Sie einen längeren Zeitraum. Alte Ereignisse werden gelöscht.',
  at: 'Zeit',
  what: 'Ereignis',
  actor: 'Ausgelöst von',
  person: 'Abgelehnte Person',
  account: 'Konto oder Person',
  accountId: 'Konto-ID',
  hints: {
    actor: 'Name aus der Verwaltung, oder user, system, provider',
    person: 'Anfang des Anmeldenamens oder der E-Mail-Adresse',
    accountId: 'Von der Seite des Kontos',
  },
  kind: 'Ereignis',
  anyKind: 'Alle Ereignisse',
  since: 'Nicht vor',
  until: 'Nicht nach',
  filter: 'Filtern',
  clear: 'Zurücksetzen',
  download: 'Als NDJSON herunterladen',
  someone: 'Eine Person',
  times: (count) => `${count}-mal`,
  signal: (txn) => `Transaktion ${txn}`,
};

export const actors: Texts['actors'] = {
  user: 'Kontoinhaber',
  system: 'Server',
  provider: 'Anbieter',
};

export const kinds: Texts['kinds'] = {
  'signed-up': 'Registriert',
  'logged-in': 'Angemeldet',
  'login-refused': 'Anmeldung abgelehnt',
  'identity-linked': 'Identität verbunden',
  'identity-unlinked': 'Identität getrennt',
  'eligibility-lost': 'Vom Anbieter abgelehnt',
  'eligibility-regained': 'Vom Anbieter wieder bestätigt',
  'token-revoked': 'Sitzung beendet',
  'all-tokens-revoked': 'Alle Sitzungen beendet',
  'device-approved': 'Gerät bestätigt',
  'device-refused': 'Gerät abgelehnt',
  'push-token-added': 'Push-Token hinzugefügt',
  'push-token-removed': 'Push-Token entfernt',
  'request-answered': 'Anfrage beantwortet',
  'program-approved': 'Programm erlaubt',
  'program-ended': 'Zugriff eines Programms beendet',
  'invitation-created': 'Einladung erstellt',
  'invitation-used': 'Einladung verwendet',
  'invitation-revoked': 'Einladung widerrufen',
  'signing-keys-rotated': 'Signaturschlüssel erneuert',
  'recheck-requested': 'Prüfung angefordert',
  'directory-deactivated': 'Vom Verzeichnis deaktiviert',
  'directory-activated': 'Vom Verzeichnis aktiviert',
  'refusal-ended': 'Ablehnung beendet',
  'account-disabled': 'Konto gesperrt',
  'account-enabled': 'Konto freigegeben',
  'account-deleted': 'Konto gelöscht',
  'admin-logged-in': 'Administrator angemeldet',
  'admin-login-refused': 'Anmeldung als Administrator abgelehnt',
  'admin-refused': 'Aufruf der Verwaltung abgelehnt',
};
