import type { programMessages } from './program-messages.js';

export const dePrograms: typeof programMessages = {
  request: {
    title: (name) => `${name} erlauben?`,
    lead: (resource) => `Dieses Programm möchte bei ${resource} für Sie handeln.`,
    signedIn: (name) => `Angemeldet als ${name}.`,
    other: 'Anderes Konto verwenden',
    returns: 'Ihre Antwort geht an',
    computer: 'ein Programm auf diesem Computer',
    app: (scheme) => `die App, die Links mit ${scheme}: öffnet`,
    publisher: 'Veröffentlicht von',
    configured: 'Eingerichtet von',
    operator: 'Betreiber dieses Servers',
    unproven:
      'Der Name eines Programms beweist nichts. Erlauben Sie es nur, wenn Sie es selbst gestartet haben.',
    may: 'Es darf',
    until: (date) => `Bis ${date}, oder bis Sie es unter „Geräte und Sitzungen“ beenden.`,
    allow: 'Erlauben',
    cancel: 'Abbrechen',
    leaving: 'Sie kehren zum Programm zurück. Danach können Sie diese Seite schließen.',
    toAccount: 'Zu Ihrem Konto',
    refused: 'Diese Anfrage kann nicht beantwortet werden',
    restart: 'Beginnen Sie im Programm von vorn.',
    report: 'Wenn das nichts ändert, melden Sie es dem Betreiber dieses Servers.',
    forProgram:
      'Ein Programm möchte für Sie handeln. Melden Sie sich an, um zu sehen, worum es bittet.',
    forOther: 'Melden Sie sich mit einem anderen Konto an, um dem Programm zu antworten.',
    samePicked:
      'Wählt ein Anbieter wieder dasselbe Konto, melden Sie sich zuerst beim Anbieter ab.',
    back: 'Zurück zur Anfrage',
  },
  errors: {
    'invalid-client':
      'Dieser Server kennt das Programm nicht, oder er kann nicht lesen, was der Hersteller darüber veröffentlicht.',
    'unsupported-client-authentication':
      'Das Programm möchte sich mit einem eigenen Schlüssel ausweisen, was dieser Server nicht unterstützt.',
    'invalid-redirect':
      'Das Programm hat die Adresse nicht angemeldet, an die es zurückkehren möchte.',
    'invalid-target': 'Das Programm bittet um einen Dienst, der hier keine Programme annimmt.',
    'invalid-scope': 'Das Programm bittet um etwas, das dieser Dienst nicht anbietet.',
    'request-expired':
      'Die Anfrage des Programms wurde beantwortet, oder ihre zehn Minuten sind vorbei.',
    other: 'Die Anfrage des Programms ist ungültig.',
  },
  section: {
    title: 'Programme',
    lead: 'Programme, die für Sie handeln dürfen, etwa Coding-Agenten. Jedes endet mit Ihrem Zugang hier.',
    none: 'Kein Programm darf für Sie handeln.',
    at: (resource) => `bei ${resource}`,
    used: (when) => `Zuletzt verwendet ${when}`,
    file: 'eine Datei des Befehls gatehouse',
    approved: (when) => `erlaubt ${when}`,
    until: (date) => `bis ${date}`,
    end: 'Beenden',
    endNamed: (name) => `Beenden: ${name}`,
    endCount: (count) => `Alle ${count} beenden`,
    endAll: 'Alle beenden',
    ended: 'Der Zugriff des Programms wurde beendet.',
  },
};
