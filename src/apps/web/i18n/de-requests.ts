import type { requestMessages } from './request-messages.js';

export const deRequests: typeof requestMessages = {
  offline: 'Sie sind offline. Antworten werden erst gesendet, wenn die Verbindung wieder da ist.',

  list: {
    title: 'Wartet auf Sie',
    lead: 'Programme auf Ihren Computern fragen, bevor sie handeln.',
    none: 'Keine Anfragen',
    noneHint:
      'Richten Sie einen Coding-Agenten mit „gatehouse hook“ ein. Seine Anfragen erscheinen dann hier.',
    sealed: 'Eine versiegelte Anfrage',
    asked: (when) => `gefragt ${when}`,
  },

  ends: {
    sent: 'Gesendet',
    taken: 'Beantwortet',
    answered: 'Anderswo beantwortet',
    withdrawn: 'Zurückgezogen',
    expired: 'Abgelaufen',
  },

  endHints: {
    sent: {
      allow: 'Sie haben es erlaubt. Der Computer hat den Empfang der Antwort noch nicht bestätigt.',
      deny: 'Sie haben es abgelehnt. Der Computer hat den Empfang der Antwort noch nicht bestätigt.',
      answer: 'Ihre Antwort ist gesendet. Der Computer hat ihren Empfang noch nicht bestätigt.',
      earlier:
        'Eine frühere Antwort zählt, nicht diese. Der Computer hat ihren Empfang noch nicht bestätigt.',
    },
    taken: {
      allow: 'Sie haben es erlaubt, und der Computer hat Ihre Antwort erhalten.',
      deny: 'Sie haben es abgelehnt, und der Computer hat Ihre Antwort erhalten.',
      answer: 'Der Computer hat Ihre Antwort erhalten.',
      earlier: 'Der Computer hat eine frühere Antwort erhalten.',
    },
    answered: 'Das wurde auf einem anderen Gerät oder am Computer beantwortet.',
    withdrawn:
      'Das Programm fragt nicht mehr: Es erhielt am Computer eine Antwort oder wurde beendet.',
    expired: 'Es kam keine Antwort. Das Programm fragt nun am Computer selbst.',
  },

  labels: {
    command: 'Befehl',
    input: 'Eingabe',
    directory: 'Verzeichnis',
    sessionDirectory: 'Verzeichnis der Sitzung',
    computer: 'Computer',
    question: 'Frage',
    option: 'Möglichkeit',
    description: 'Beschreibung',
    tool: 'Werkzeug',
    title: 'Sitzung',
  },

  view: {
    toList: 'Alle Anfragen',
    permission: 'Darf das laufen?',
    question: 'Eine Frage an Sie',
    expires: 'Läuft ab',
    saysTheAgent: 'sagt der Agent',
    allow: 'Erlauben',
    deny: 'Ablehnen',
    decline: 'Nicht beantworten',
    confirms: 'Vor dem Erlauben werden Sie um Fingerabdruck, Gesicht oder PIN gebeten.',
    unknown: 'Diese Anfrage gibt es nicht mehr',
    unknownHint:
      'Sie ist seit einiger Zeit beendet oder gehört zu einem anderen Konto. Wenn das Programm noch fragt, antworten Sie an seinem Computer.',
    unopened: {
      closed: 'Diese Anfrage ist beendet',
      'no-key': 'Eine versiegelte Anfrage',
      refused: 'Dieser Anfrage ist nicht zu trauen',
      'other-server': 'Diese Anfrage gilt für eine andere Adresse',
    },
  },

  pressed: {
    allowed:
      'Erlaubt durch die Schaltfläche der Benachrichtigung: Sie zeigte den ganzen Befehl, und Ihr Passkey bestätigte, dass Sie es waren.',
    'not-authenticated':
      'Noch nicht erlaubt: Ein Browser sagt nicht, wer die Schaltfläche einer Benachrichtigung gedrückt hat. Erlauben Sie hier. Speichert die Seite ihre Schlüssel mit einem Passkey, fragt sie sofort danach.',
    'other-request':
      'Noch nicht erlaubt: Die Benachrichtigung nennt nicht genau diese Anfrage. Lesen Sie sie und erlauben Sie sie hier.',
    'not-whole':
      'Noch nicht erlaubt: Eine Benachrichtigung kann diese Anfrage nicht ganz zeigen. Lesen Sie sie und erlauben Sie sie hier.',
    'other-text':
      'Noch nicht erlaubt: Die Benachrichtigung zeigte einen anderen Text als diese Anfrage oder nur einen Teil davon. Lesen Sie sie und erlauben Sie sie hier.',
    unopened: 'Nicht erlaubt: Diese Seite kann die Anfrage nicht zeigen.',
  },

  whyNot: {
    'no-key':
      'Ohne Ihren Geräteschlüssel kann dieser Browser die Anfrage nicht zeigen, nur ablehnen.',
    refused:
      'Ihr Schlüssel öffnet sie nicht, oder der Computer hat etwas anderes gefragt. Erlauben Sie sie auch anderswo nicht, ohne am Computer nachzusehen.',
    'other-server':
      'Der Computer verwendet diesen Server unter der Adresse oben. Öffnen Sie die Seite dort, um die Anfrage zu sehen. Hier können Sie sie nur ablehnen.',
    plain:
      'Ihr Konto hat keinen Geräteschlüssel. Der Computer kann deshalb nicht erkennen, dass eine Antwort von Ihnen ist. Ablehnen können Sie hier; erlauben Sie es am Computer.',
    'too-long':
      'Das ist zu lang, um es hier zu beurteilen. Erlauben Sie es am Computer, oder lehnen Sie es ab.',
    'deny-only':
      'Dieses Programm nimmt hier nur eine Ablehnung an. Erlauben Sie es am Computer, oder lehnen Sie es ab.',
  },

  form: {
    several: 'Sie können mehrere wählen.',
    own: 'Oder eine eigene Antwort',
    answer: 'Ihre Antwort',
    send: 'Antwort senden',
    incomplete: 'Beantworten Sie jede Frage.',
  },

  key: {
    title: 'Schlüssel für Antworten',
    leads: {
      none: 'Anfragen sind für Ihren Geräteschlüssel versiegelt. Geben Sie ihn ein, um sie zu sehen und zu beantworten: Dieser Server erhält ihn nie.',
      tab: 'Dieser Tab kann Anfragen öffnen und beantworten, bis Sie ihn schließen oder neu laden.',
      browser:
        'Dieser Browser kann Anfragen öffnen und beantworten, solange Sie hier angemeldet sind.',
    },
    isKept: 'Gespeichert',
    isConfirmed: 'Gespeichert, mit Passkey',
    open: 'Anfragen öffnen',
    enterAgain:
      'Laden Sie die Seite neu und geben Sie Ihren Schlüssel ein, um die Schlüssel in diesem Browser zu behalten.',
    cannotKeep:
      'Dieser Browser behält keine Schlüssel: Er kann es nicht, oder Sie bleiben auf diesem Gerät nicht angemeldet. Ein iPhone oder iPad behält sie nur für die Seite auf seinem Home-Bildschirm. Nach jedem Laden der Seite geben Sie Ihren Schlüssel ein oder lehnen ohne ihn ab.',
    risk: 'Sie können die zwei Schlüssel für Anfragen und Antworten in diesem Browser behalten, um gleich antworten zu können. Sie lassen sich nicht aus ihm herauskopieren, und Ihr Geräteschlüssel ist nicht dabei. Das Risiko: Wer diesen Browser benutzt, oder ein Server, der eine veränderte Seite schickt, kann für Sie antworten.',
    confirm: 'Jedes „Erlauben“ mit einem Passkey bestätigen',
    confirmHint:
      'Mit Fingerabdruck, Gesicht oder PIN. Dann genügt ein entsperrtes Telefon nicht, um etwas zu erlauben.',
    keep: 'Schlüssel in diesem Browser behalten',
    kept: 'Dieser Browser behält die Schlüssel, bis diese Sitzung endet.',
    ends: 'Sie werden vergessen, wenn Sie sich abmelden, wenn diese Sitzung irgendwo beendet wird und wenn die Daten dieses Browsers gelöscht werden. Safari löscht sie nach sieben Tagen ohne Besuch.',
    forget: 'Schlüssel auf diesem Gerät vergessen',
    forgotten: 'Dieser Browser hat die Schlüssel vergessen.',
    passkey: (id) => `Antworten des Kontos ${id}`,
  },
};
