import type { Texts } from './en.js';

/** German texts of the page of the policy and of its plan. */
export const policy: Texts['policy'] = {
  contents: 'Auf dieser Seite',
  present: 'Zurzeit gilt',
  topics: {
    signup: 'Neue Konten',
    login: 'Anmeldung',
    eligibility: 'Zulassung',
    revocation: 'Ende des Zugangs',
    backends: 'Backends',
    content: 'Gespeicherte Inhalte',
  },
  plan: 'Eine Änderung ausprobieren',
  planLead:
    'Ändern Sie hier Variablen und sehen Sie, wer den Zugang verlöre oder bekäme, bevor Sie den Server damit neu starten. Geändert wird nichts.',
  choose: 'Variable mit ihrem jetzigen Wert hinzufügen',
  chooseHint: 'Ohne Geheimnisse: Für diese Vorschau wird keines gebraucht.',
  choice: 'Variable wählen …',
  variables: 'Geänderte Variablen',
  variablesHint:
    'NAME=Wert, eine pro Zeile. Ein leerer Wert steht für die Vorgabe. Mehrzeiliger Text steht in einfachen Anführungszeichen.',
  form: 'Schreiben Sie jede Variable in eine eigene Zeile, als NAME=Wert.',
  submit: 'Folgen anzeigen',
  outcome: 'Ergebnis',
  judged: (accounts, count) =>
    count === 1
      ? 'Das einzige Konto wurde beurteilt.'
      : `Alle ${accounts} Konten wurden beurteilt.`,
  sample: (accounts, total) =>
    `Eine zufällige Auswahl von ${accounts} der ${total} Konten wurde beurteilt.`,
  lose: 'Verlören den Zugang',
  gain: 'Bekämen Zugang',
  unknown: 'Unbekannt, bis der Anbieter gefragt wird',
  examples: (count) => (count === 1 ? 'Konto zeigen' : `${count} davon zeigen`),
  backends: 'Tokens für Backends',
  backend: 'Backend',
  sentences: 'Änderungen der Regeln',
  before: 'Vorher:',
  after: 'Nachher:',
  none: 'keine',
  same: 'Nichts ändert sich: Diese Variablen stehen für das, was zurzeit gilt.',
  sameSentences:
    'Die Sätze der Regeln bleiben gleich. Der Unterschied liegt in Einstellungen, die sie nicht beschreiben.',
  findingsThen: 'Neue Befunde',
  noNewFindings: 'Die Änderung bringt keinen neuen Befund.',
  rules: {
    users: 'Personen',
    emailDomains: 'Domains der E-Mail-Adressen',
    groupsAny: 'Gruppen, eine von',
    groupsAll: 'Gruppen, alle von',
    orgsAny: 'Organisationen, eine von',
    orgsAll: 'Organisationen, alle von',
    issuers: 'Aussteller der Zertifikate',
  },
};
