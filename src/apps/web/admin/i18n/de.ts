import { actors, audit, kinds } from './de-audit.js';
import { policy } from './de-plan.js';
import { messages } from './de-policy.js';
import { reasons } from './de-reasons.js';
import { programs } from './de-programs.js';
import { signals } from './de-signals.js';
import type { Texts } from './en.js';

export const de: Texts = {
  signIn: {
    title: 'Verwaltung',
    lead: 'Konten finden, sehen, warum sie zugelassen oder abgelehnt werden, und eingreifen.',
    token: 'Administrator-Token',
    tokenHint: 'Es bleibt in diesem Tab und wird vergessen, wenn Sie ihn schließen.',
    submit: 'Anmelden',
    unknown:
      'Der Server kennt dieses Token nicht. Der Betreiber verwaltet die Tokens in der Datei, die ADMIN_TOKENS_FILE nennt.',
    notEnded:
      'Der Server hat nicht geantwortet: Dieser Browser ist womöglich noch angemeldet. Laden Sie die Seite neu, und melden Sie sich ab.',
  },

  roles: { read: 'Nur lesen', operate: 'Darf eingreifen' },

  nav: {
    label: 'Verwaltung',
    overview: 'Übersicht',
    accounts: 'Konten',
    invitations: 'Einladungen',
    backends: 'Backends',
    signals: 'Signale',
    audit: 'Protokoll',
    policy: 'Regeln',
  },

  live: {
    fresh: 'Live',
    stale: 'Nicht aktuell',
    hint: 'Wird alle fünf Sekunden aktualisiert, solange diese Seite sichtbar ist',
  },

  pages: { previous: 'Zurück', next: 'Weiter' },

  lesson: { read: 'Mehr dazu (auf Englisch):' },

  findings: {
    none: 'An den Regeln fällt nichts auf.',
    error: 'Fehler',
    warning: 'Warnung',
    notice: 'Hinweis',
    dismiss: 'Ausblenden',
    dismissNamed: (code) => `Ausblenden: ${code}`,
    hidden: (count) =>
      count === 1
        ? '1 Befund ist in diesem Browser ausgeblendet.'
        : `${count} Befunde sind in diesem Browser ausgeblendet.`,
    show: 'Alle zeigen',
    more: (count) => (count === 1 ? '1 weiterer Befund' : `${count} weitere Befunde`),
  },

  overview: {
    accounts: 'Konten',
    all: 'Alle Konten',
    disabled: 'Gesperrt',
    ineligible: 'Vom Anbieter abgelehnt',
    about: (count) => `etwa ${count}`,
    more: (count) => `mehr als ${count}`,
    empty:
      'Die erste Anmeldung einer Person legt ein Konto an. Die Regeln sagen, wer sich anmelden darf.',
    findings: 'Befunde',
    policy: 'Regeln ansehen',
  },

  logins: {
    title: 'Anmeldungen',
    period: 'Zeitraum',
    day: '24 Stunden',
    week: '7 Tage',
    logins: 'Angemeldet',
    refusals: 'Abgelehnt',
    sums: (logins, refusals) => `${logins} Anmeldungen, ${refusals} abgelehnt`,
    since: 'Ab',
    now: 'jetzt',
  },

  requests: {
    title: 'Anfragen von Programmen',
    lead: 'Coding-Agenten und andere Programme fragen Personen auf ihren Geräten. Beendete Anfragen zählen eine Stunde lang.',
    none: 'Kein Programm fragt zurzeit, und in der letzten Stunde hat keines gefragt.',
    waiting: 'Wartend',
    answered: 'Beantwortet',
    withdrawn: 'Zurückgezogen',
    expired: 'Ohne Antwort abgelaufen',
  },

  rechecks: {
    title: 'Erneute Prüfungen',
    lead: 'Anbieter werden regelmäßig gefragt, ob Personen noch dazugehören.',
    off: 'Verbundene Identitäten werden auf diesem Server nicht erneut geprüft.',
    waiting: 'Jetzt fällig',
    noneWaits: 'Keine Prüfung ist fällig.',
    done: 'Erledigt seit dem Start dieser Instanz',
    noneDone: 'Noch keine.',
    overdue: 'Seit über einer Minute überfällig',
    due: 'Fällig',
    oldest: (when) => `älteste ${when}`,
    eligible: 'Bestätigt',
    ineligible: 'Abgelehnt',
    unknown: 'Keine Antwort',
    table: 'Als Tabelle zeigen',
    provider: 'Anbieter',
  },

  health: {
    title: 'Identitätsanbieter',
    none: 'Es ist kein Identitätsanbieter eingerichtet.',
    required: 'Erforderlich',
    failing: 'Gestört',
    answers: 'Antwortet',
    unknown: 'Noch nicht genutzt',
    answered: (when) => `Letzte Antwort ${when}`,
    failed: (when, cause) => `Fehler ${when} (${cause})`,
    fails: (when, cause) => `Gestört, zuletzt ${when} (${cause})`,
    local: 'Prüft dieser Server selbst',
    silent: 'Keine Anfrage seit dem Start dieser Instanz',
  },

  accounts: {
    query: 'Konto suchen',
    queryHint: 'ID oder ein Teil von Benutzername oder E-Mail-Adresse',
    find: 'Suchen',
    provider: 'Anbieter',
    anyProvider: 'Alle Anbieter',
    state: 'Zustand',
    anyState: 'Alle Zustände',
    active: 'Aktiv',
    disabled: 'Gesperrt',
    ineligible: 'Vom Anbieter abgelehnt',
    found: 'Gefundene Konten',
    none: 'Kein Konto passt',
    noneHint:
      'Gesucht wird das Eingegebene in Benutzernamen und E-Mail-Adressen, groß- oder kleingeschrieben.',
    count: (count, total) => (total === 1 ? '1 Konto' : `${count} Konten`),
    more: (count) => `Mehr als ${count} Konten`,
    account: 'Konto',
    providers: 'Anbieter',
    noProvider: 'Keine',
    sessions: 'Sitzungen',
    lastSeen: 'Zuletzt aktiv',
    unnamed: (id) => `Konto ${id}`,
  },

  methods: {
    key_challenge: 'Geräteschlüssel',
    mtls: 'Zertifikat',
    device: 'Auf einem anderen Gerät bestätigt',
  },

  detail: {
    title: 'Konto',
    absent: 'Dieses Konto gibt es nicht',
    absentHint: 'Es wurde gelöscht, oder die Adresse ist falsch.',
    allowed: 'Dieses Konto ist zugelassen',
    refused: {
      'account-disabled': 'Abgelehnt: von der Verwaltung gesperrt',
      'provider-required': 'Abgelehnt: ein erforderlicher Anbieter ist nicht verbunden',
      'not-eligible': 'Abgelehnt: ein Anbieter bestätigt diese Person nicht',
    },
    identities: 'Identitäten',
    noIdentity: 'Kein Anbieter ist verbunden.',
    facts: 'Regeln und Angaben',
    failures: (count) =>
      count === 1 ? '1 Prüfung ohne Antwort' : `${count} Prüfungen ohne Antwort`,
    sessions: 'Sitzungen',
    noSession: 'Keine Sitzung ist offen.',
    unnamedClient: 'Unbenanntes Programm',
    signedIn: (when) => `angemeldet ${when}`,
    lastUsed: (when) => `zuletzt benutzt ${when}`,
    backends: 'Tokens für Backends',
    history: 'Verlauf',
    allEvents: 'Alle Ereignisse',
    keyed: 'Mit Geräteschlüssel',
    keyless: 'Ohne Geräteschlüssel',
    e2ee: 'Ende-zu-Ende-verschlüsselt',
    plain: 'Für den Server lesbar',
  },

  acts: {
    label: 'Aktionen',
    reason: 'Grund',
    reasonHint: 'Steht mit Ihrem Namen im Protokoll.',
    unchanged: 'Nichts geändert: Es war schon so.',
    disable: {
      open: 'Sperren …',
      title: 'Dieses Konto sperren?',
      lead: 'Seine Sitzungen und Verbindungen enden sofort, auf jeder Instanz. Es bleibt gesperrt, bis es wieder freigegeben wird; die Daten bleiben erhalten.',
      submit: 'Konto sperren',
      done: 'Das Konto ist gesperrt.',
    },
    enable: {
      open: 'Freigeben …',
      title: 'Dieses Konto freigeben?',
      lead: 'Es kann sich wieder anmelden, soweit die Regeln es zulassen.',
      submit: 'Konto freigeben',
      done: 'Das Konto ist freigegeben.',
    },
    revoke: {
      open: 'Alle Sitzungen beenden …',
      title: 'Alle Sitzungen beenden?',
      lead: 'Jedes Gerät und jedes Programm des Kontos muss sich neu anmelden.',
      submit: 'Alle Sitzungen beenden',
      done: 'Alle Sitzungen sind beendet.',
    },
    recheck: {
      open: 'Erneut prüfen …',
      title: 'Identitäten erneut prüfen?',
      lead: 'Die Anbieter werden jetzt gefragt, ob sie diese Person noch bestätigen.',
      submit: 'Jetzt prüfen',
      done: 'Die Prüfung ist angefordert; ihr Ergebnis erscheint hier.',
    },
    remove: {
      open: 'Löschen …',
      title: 'Dieses Konto löschen?',
      lead: 'Alles, was der Server für dieses Konto speichert, wird sofort gelöscht. Um es ohne Datenverlust abzulehnen, sperren Sie es stattdessen.',
      submit: 'Konto löschen',
      done: 'Das Konto ist gelöscht.',
    },
    removeConsent: 'Mir ist klar, dass sich das nicht rückgängig machen lässt',
    endSession: {
      open: 'Beenden …',
      title: 'Diese Sitzung beenden?',
      lead: 'Das Gerät oder Programm muss sich neu anmelden.',
      submit: 'Sitzung beenden',
      done: 'Die Sitzung ist beendet.',
    },
    endNamed: (name) => `Sitzung von ${name} beenden`,
  },

  invitations: {
    lead: 'Damit registrieren sich neue Geräteschlüssel. Abgelaufene werden gelöscht.',
    off: 'Dieser Server nimmt keine Einladungen an',
    none: 'Noch keine Einladungen',
    purpose:
      'Einladungen sind für einen Server ohne Identitätsanbieter, etwa den einer Familie oder eines Vereins: Nur wer einen Code hat, kann ein Konto anlegen.',
    offStep: 'Starten Sie den Server mit diesen Variablen:',
    firstStep: 'Wählen Sie oben „Neue Einladung …“, oder führen Sie auf dem Server aus:',
    note: 'Notiz',
    noteHint: 'Für die Verwaltung, zum Beispiel, wer eingeladen ist. Steht auch im Protokoll.',
    unnamed: 'Ohne Notiz',
    states: {
      open: 'Offen',
      'used-up': 'Aufgebraucht',
      expired: 'Abgelaufen',
      revoked: 'Widerrufen',
    },
    used: (used, uses) => `${used} von ${uses} verwendet`,
    until: (time) => `gültig bis ${time}`,
    createdBy: (name, when) => `erstellt von ${name} ${when}`,
    create: 'Neue Einladung …',
    createTitle: 'Einladung erstellen',
    uses: 'Konten, die damit erstellt werden können',
    lifetime: 'Gültig für',
    days: (days) => (days === 1 ? '1 Tag' : `${days} Tage`),
    submit: 'Einladung erstellen',
    created: 'Die Einladung ist erstellt',
    createdLead:
      'Der Code wird nur jetzt angezeigt. Schicken Sie ihn der Person, die Sie einladen.',
    code: 'Code',
    link: 'Link',
    linkHint: 'Der Link öffnet die Kontoseite und trägt den Code ein.',
    noLink: 'Es gibt keinen Link: Dafür sind SERVICE_PUBLIC_URL und die Kontoseite nötig.',
    close: 'Ich habe ihn gespeichert',
    revoke: {
      open: 'Widerrufen …',
      title: 'Diese Einladung widerrufen?',
      lead: 'Damit werden keine Konten mehr erstellt. Die bereits erstellten Konten bleiben.',
      submit: 'Einladung widerrufen',
      done: 'Die Einladung ist widerrufen.',
    },
    revokeNamed: (name) => `Einladung widerrufen: ${name}`,
  },

  backends: {
    none: 'Noch keine Backends',
    purpose:
      'Ein Backend ist ein eigener Server, etwa ein Relay oder ein Dateispeicher, der Personen annimmt, die hier angemeldet sind. Scheidet jemand aus, erfährt er es in Sekunden.',
    firstStep:
      'Beschreiben Sie es in einer JSON-Datei, nennen Sie diese in AUTH_RESOURCE_SERVERS_CONFIG_PATH, und starten Sie den Server neu:',
    address: 'Adresse',
    providers: 'Dort erforderlich',
    noProviders: 'Was dieser Server verlangt',
    accounts: 'Konten',
    everyAccount: 'Mit und ohne Geräteschlüssel',
    keyedAccounts: 'Nur mit Geräteschlüssel',
    claims: 'Persönliche Daten in Tokens',
    noClaims: 'Keine',
    tokens: 'Tokens',
    lifetime: (algorithm, time) => `${algorithm}, ${time} gültig`,
    noRequests: 'Keine Anfrage seit dem Start dieser Instanz.',
    sinceStart: 'Seit dem Start dieser Instanz',
    request: 'Anfrage',
    outcome: 'Ergebnis',
    count: 'Anzahl',
    requests: {
      exchange: 'Token-Tausch',
      introspection: 'Prüfung eines Tokens',
      forward_auth: 'Frage eines Proxys',
      token: 'Token für das Backend selbst',
    },
    outcomes: {
      ok: 'Angenommen',
      inactive: 'Ungültig',
      refused: 'Abgelehnt',
      failed: 'Fehlgeschlagen',
    },
    streams: 'Streams beendeter Sitzungen',
    noStreams: 'Kein Stream: Keine Instanz dieses Backends erfährt, welche Sitzungen enden.',
    stream: 'Stream',
    created: 'Erstellt',
    lastPoll: 'Letzte Abfrage',
    paused: (ago) => `${ago}, pausiert`,
    waiting: 'Nicht bestätigt',
    since: (count, oldest) => `${count} (älteste ${oldest})`,
    atLeast: (count) => `${count} oder mehr`,
    keys: 'Signaturschlüssel',
    keysLead:
      'Alle 90 Tage entsteht ein neuer. Er wird einen Tag, bevor er unterschreibt, veröffentlicht.',
    key: 'Schlüssel',
    algorithm: 'Verfahren',
    signsFrom: 'Unterschreibt ab',
  },

  programs,
  signals,

  audit,
  actors,
  kinds,

  reasons,

  policy,

  statements: messages,
};
