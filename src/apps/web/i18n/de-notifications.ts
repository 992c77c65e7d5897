import type { notificationMessages } from './notification-messages.js';

export const deNotifications: typeof notificationMessages = {
  push: {
    title: 'Push-Benachrichtigungen',
    lead: 'Was Coding-Agenten auf Ihren Computern an Ihre Telefone und Browser senden. Webhooks haben eigene Schalter.',
    enabled: 'Push-Benachrichtigungen senden',
    when: 'Bei diesen Ereignissen benachrichtigen',
    shows: 'Was sie zeigen',
    message: 'Die letzte Nachricht des Agenten',
    messageHint: 'Aus: ein allgemeiner Satz.',
    previews: 'Worum eine Anfrage bittet',
    previewsHint: 'Der Befehl, die Datei oder die Frage. Aus: ein allgemeiner Satz.',
    previewsOn:
      'Ein Computer sendet es, sofern es dort nicht ausgeschaltet ist; „gatehouse notify doctor“ prüft das.',
    previewsOff:
      'Ein Computer sendet es nur, wenn es dort eingeschaltet ist; „gatehouse notify doctor“ prüft das.',
    foreground: 'Während die App offen ist',
    foregroundChoices: {
      full: 'Anzeigen, mit Ton',
      silent: 'Anzeigen, ohne Ton',
      off: 'Nichts anzeigen',
    },
    preview: 'Was Sie sehen werden',
  },
  topics: {
    ready: 'Fertig',
    permissionRequest: 'Freigaben',
    userActionRequest: 'Fragen',
  },
  topicHints: {
    ready: 'Der Agent ist fertig und wartet auf Sie.',
    permissionRequest: 'Der Agent fragt, bevor er ein Werkzeug benutzt.',
    userActionRequest: 'Der Agent hat eine Frage an Sie.',
  },

  browser: {
    title: 'Dieser Browser',
    lead: 'Zeigt Benachrichtigungen ohne App, auch wenn diese Seite geschlossen ist.',
    isOn: 'Dieser Browser zeigt Ihre Benachrichtigungen',
    isOff: 'In diesem Browser derzeit nicht möglich',
    nothingSent: 'Push-Benachrichtigungen sind aus, daher kommt hier nichts an',
    turnOff: 'Um sie hier auszuschalten, entfernen Sie diesen Browser unter',
    previews: 'Auf diesem Gerät zeigen, worum eine Anfrage bittet',
    previewsHint:
      'Aus: In diesem Browser ein allgemeiner Satz, gleich was die anderen Schalter sagen.',
    turnOn: 'In diesem Browser einschalten',
    name: 'Name dieses Browsers',
    on: 'Dieser Browser zeigt jetzt Ihre Benachrichtigungen.',
    wholeWay: 'Den ganzen Weg, von Ihrem Computer bis hierher, prüft dieser Befehl:',
    unsupported:
      'Dieser Browser kann keine Benachrichtigungen empfangen. Verwenden Sie einen anderen Browser, eine App oder einen Webhook.',
    homeScreen:
      'Ein iPhone oder iPad zeigt Benachrichtigungen nur von Seiten auf dem Home-Bildschirm: Wählen Sie im Teilen-Menü „Zum Home-Bildschirm“, und öffnen Sie diese Seite von dort.',
    blocked:
      'Dieser Browser sperrt Benachrichtigungen dieser Seite. Erlauben Sie sie in seinen Einstellungen für diese Website, oft neben der Adresse, und laden Sie die Seite neu.',
    development:
      'Dies ist ein Entwicklungsstand, der sich nicht für Benachrichtigungen registriert.',
  },

  receivers: {
    title: 'Geräte, die Text zeigen',
    lead: 'Jede Sitzung dieses Kontos kann ein Gerät hinzufügen. Nur der Schlüssel des Kontos bestätigt eines.',
    none: 'Noch ist kein Gerät bestätigt, daher zeigen alle Titel und Text. Haken Sie Ihre an: Die anderen benachrichtigen Sie dann ohne Text.',
    some: 'Diese Geräte sind nicht bestätigt und benachrichtigen Sie daher ohne Titel und Text. Eine App, die sich nicht selbst bestätigt, funktioniert so weiter. Haken Sie Ihre Geräte an, und entfernen Sie die anderen unter „Geräte und Sitzungen“.',
    all: 'Jedes Gerät, das Sie benachrichtigt, ist bestätigt',
    confirm: 'Auf den angehakten Geräten Text zeigen',
    confirmed: 'Die angehakten Geräte zeigen jetzt Text.',
  },

  refused: {
    title: 'Dieser Browser verwendet diese Einstellungen nicht',
    plain:
      'Der Server gibt an, die Einstellungen dieses Kontos lesen zu können. Dieser Browser hatte den Schlüssel des Kontos und erwartet sie Ende-zu-Ende-verschlüsselt.',
    encrypted:
      'Der Server gibt an, dass die Einstellungen dieses Kontos Ende-zu-Ende-verschlüsselt sind. Hier haben Sie gewählt, dass der Server sie lesen kann.',
    missing: 'Der Server hat keine Einstellungen, dieser Browser hat aber schon welche gesehen.',
    older: 'Der Server hat ältere Einstellungen, als dieser Browser gesehen hat.',
    replaced: 'Der Server hat andere Einstellungen als die, die dieser Browser gesehen hat.',
    modeCause:
      'Fahren Sie nur fort, wenn Sie das gewählt haben, auf einem anderen Gerät oder beim Anlegen des Kontos. Andernfalls will der Server Sie vielleicht täuschen: Melden Sie es seinem Betreiber.',
    cause:
      'Die Ursache ist eine ältere App, eine wiederhergestellte Sicherung oder ein Server, der Sie täuschen will. Prüfen Sie die Webhooks und die Geräte, bevor Sie fortfahren.',
    webhooks: 'Diese Webhooks stehen in den Einstellungen:',
    noWebhooks: 'In den Einstellungen stehen keine Webhooks.',
    allShowText:
      'In den Einstellungen ist kein Gerät bestätigt: Alle gespeicherten werden Text zeigen.',
    confirmed: (count: number) => `Bestätigte Geräte, die Text zeigen: ${count}.`,
    confirmMode: 'Das habe ich gewählt',
    accept: 'Diese Einstellungen verwenden',
  },

  webhooks: {
    title: 'Webhooks',
    lead: 'Jedes Ereignis kann auch per HTTP POST an eine eigene Adresse gesendet werden.',
    none: 'Noch keine Webhooks',
    noneHint: 'Fügen Sie einen für einen Chat, für ntfy oder für ein eigenes Programm hinzu.',
    add: 'Webhook hinzufügen',
    addTitle: 'Webhook hinzufügen',
    change: 'Ändern',
    changeTitle: 'Webhook ändern',
    url: 'Adresse',
    urlHint: 'Muss mit https:// beginnen und darf weder Benutzernamen noch Passwort enthalten.',
    preset: 'Art',
    presets: {
      generic: 'JSON, für eigene Programme',
      slack: 'Slack',
      discord: 'Discord',
      ntfy: 'ntfy',
    },
    enabled: 'An diese Adresse senden',
    isOff: 'Aus',
    isSigned: 'Signiert',
    topics: 'Diese Ereignisse senden',
    all: 'Alle Ereignisse',
    noTopic: 'Keine Ereignisse',
    sign: 'Sendungen signieren',
    signHint: 'Mit einem Geheimnis, damit der Empfänger Fälschungen erkennt.',
    added: 'Der Webhook ist hinzugefügt.',
    changed: 'Der Webhook ist geändert.',
    removed: 'Der Webhook ist entfernt.',
    removeTitle: 'Diesen Webhook entfernen?',
    removeLead: 'Es wird nichts mehr an ihn gesendet, und sein Geheimnis wird gelöscht.',
    broken:
      'Dieser Webhook ist in einer Form gespeichert, die kein Sender verwenden kann: Es wird nichts an ihn gesendet.',
    secret: 'Signatur',
    secretTitle: 'Geheimnis der Signatur',
    unsignedLead: 'Die Sendungen dieses Webhooks sind nicht signiert.',
    signedLead:
      'Die Sendungen dieses Webhooks sind signiert. Ein neues Geheimnis gilt sofort; das bisherige signiert noch einen Tag lang daneben.',
    makeSecret: 'Geheimnis erzeugen',
    replaceSecret: 'Geheimnis ersetzen',
    stopSigning: 'Nicht mehr signieren',
    unsigned: 'Die Sendungen werden nicht mehr signiert.',
    shownOnce:
      'Speichern Sie dieses Geheimnis dort, wo der Empfänger es liest. Es wird nur jetzt angezeigt.',
    saved: 'Ich habe es gespeichert',
  },

  test: {
    open: 'Vorschau und Test',
    title: 'Vorschau und Test',
    event: 'Ereignis',
    previews: 'Von einem Sender, der zeigt, worum eine Anfrage bittet',
    body: 'Das wird gesendet:',
    send: 'Test senden',
    why: 'Eine Webseite darf nicht an andere Server senden. Ihr Computer kann es: Dieser Befehl sendet das Ereignis und meldet das Ergebnis.',
    orCurl: 'Oder, wo das Kommandozeilenprogramm nicht installiert ist, diese Zeilen:',
    secret: 'Setzen Sie das Geheimnis dieses Webhooks in die erste Zeile ein.',
    outcome:
      'Der Empfänger hat den Test angenommen, wenn seine Antwort einen Status von 200 bis 299 hat. Jeder andere Status ist ein Fehler.',
  },
};
