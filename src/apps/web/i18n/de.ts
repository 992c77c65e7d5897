import { deDevices } from './de-devices.js';
import { deRefusals } from './de-refusals.js';
import type { Messages } from './en.js';

export const de: Messages = {
  moment: 'Einen Moment …',
  justNow: 'gerade eben',
  tryAgain: 'Erneut versuchen',
  cancel: 'Abbrechen',
  back: 'Zurück',
  close: 'Schließen',
  dismiss: 'Ausblenden',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyRefused:
    'Der Browser erlaubt dieser Seite nicht, zu kopieren. Der Text ist markiert: Kopieren Sie ihn selbst.',
  show: 'Anzeigen',
  hide: 'Verbergen',
  print: 'Drucken',
  remove: 'Entfernen',
  save: 'Speichern',
  language: 'Sprache',
  signOut: 'Abmelden',
  noStorage:
    'Dieser Browser sperrt den Speicher, in dem diese Seite Ihre Sitzung aufbewahrt. Erlauben Sie für diese Adresse Cookies und Websitedaten, und laden Sie die Seite neu.',
  browserOn: (browser, system) => `${browser ?? 'Browser'}${onSystem(system)}`,

  signIn: {
    title: (place) => `Bei ${place} anmelden`,
    none: 'Auf diesem Server ist keine Anmeldung eingerichtet. Wenden Sie sich an den Betreiber.',
    insecure: 'Öffnen Sie diese Seite über https: Ohne erzeugen Browser keine Schlüssel.',
    or: 'oder',
    continueWith: (name) => `Weiter mit ${name}`,
    certificate: 'Weiter mit dem Zertifikat dieses Geräts',
    key: 'Geräteschlüssel verwenden',
    keyTitle: 'Mit dem Geräteschlüssel anmelden',
    keyLead:
      'Ein Geräteschlüssel ist der lange Code, der mit gatekey1 beginnt. Sie haben ihn gesichert, als Sie Ihr Konto erstellt haben.',
    keyScan: 'Richten Sie die Kamera auf den QR-Code Ihres gedruckten Schlüssels.',
    keyNotScanned: 'Dieser QR-Code ist kein Geräteschlüssel.',
    keyType: 'Geben Sie den Schlüssel ein.',
    stay: 'Auf diesem Gerät angemeldet bleiben',
    stayHint: 'Nur auf einem eigenen Gerät. Melden Sie sich anderswo am Ende ab.',
    keyLabel: 'Geräteschlüssel',
    keySubmit: 'Anmelden',
    keysOnly: 'Anmelden können sich nur Schlüssel, die schon ein Konto haben.',
    noAccount: 'Zu diesem Schlüssel gibt es auf diesem Server kein Konto.',
    otherDevice: 'Angemeldetes Gerät verwenden',
    create: 'Konto erstellen',
    noAccountYet: 'Noch kein Konto?',
    forDevice: 'Melden Sie sich bei dem Konto an, zu dem das neue Gerät hinzugefügt wird.',
    otherTab:
      'Dieser Vorgang wurde in einem anderen Tab oder Browser begonnen. Beginnen Sie ihn hier neu.',
    noInvitations: 'Dieser Server nimmt keine Einladungen an.',
    invitedAlready:
      'Sie haben eine Einladung geöffnet und sind bereits angemeldet. Melden Sie sich ab, um ein weiteres Konto zu erstellen.',
    closed: 'Sie haben hier kein Konto, und über diesen Anbieter werden keine Konten erstellt.',
  },

  newKey: {
    title: 'Konto erstellen',
    lead: 'Dieser Schlüssel ist der einzige Zugang zum Konto und lässt sich nicht wiederherstellen. Speichern Sie ihn im Passwortmanager oder drucken Sie ihn aus, bevor Sie fortfahren.',
    label: 'Ihr neuer Geräteschlüssel',
    saved: 'Ich habe den Schlüssel gesichert',
    submit: 'Konto erstellen',
    ready: 'Ihr Konto ist bereit.',
    withThis: 'Konto mit diesem Schlüssel erstellen',
    haveOne: 'Ich habe schon einen Geräteschlüssel',
    haveNone: 'Ich habe keinen Geräteschlüssel',
    provider: (name, login) =>
      `Sie haben sich über ${name}${login === null ? '' : ` als ${login}`} angemeldet. Zu diesem Konto gehört auch ein Geräteschlüssel, den dieser Browser nicht hat.`,
    open: 'Konto in diesem Browser öffnen',
    checksum: 'Die letzten sechs Zeichen sind eine Prüfsumme, die Tippfehler erkennt.',
    userName: 'Geräteschlüssel',
    invitation: 'Einladungscode',
    invitationHint: 'Vom Betreiber dieses Servers. Großschreibung und Bindestriche sind egal.',
  },

  lostKey: {
    title: 'Ich habe meinen Schlüssel verloren',
    otherDeviceHint:
      'Eine App, ein Computer oder ein Browser, der angemeldet ist, bestätigt diesen mit einem Code.',
    first:
      'Suchen Sie ihn zuerst: im Passwortmanager, auf dem gedruckten Blatt und auf jedem angemeldeten Gerät. Eine App oder ein Computer mit dem Schlüssel fügt diesen Browser hinzu und zeigt den Schlüssel noch einmal an.',
    loss: 'Gibt es ihn auf keinem Gerät und in keiner Kopie mehr, kann ihn niemand wiederherstellen, und die damit verschlüsselten Daten bleiben unlesbar.',
    administrator: (name) =>
      `Dann kann die Administration dieses Servers das Konto löschen, damit Sie ein neues erstellen. Nennen Sie das Konto bei ${name}, mit dem Sie sich angemeldet haben.`,
  },

  kind: {
    title: 'Welche Art von Konto?',
    e2ee: 'Ende-zu-Ende-verschlüsselt',
    e2eeHint:
      'Nur Ihre Geräte können Ihre Daten lesen. Sie bewahren einen Schlüssel auf; geht er verloren, sind auch die Daten verloren.',
    plain: 'Für den Server lesbar',
    plainHint: 'Sie brauchen keinen Schlüssel: Auf jedem Gerät genügt die Anmeldung beim Anbieter.',
  },

  code: deDevices.code,

  nav: {
    label: 'Konto',
    overview: 'Übersicht',
    requests: 'Anfragen',
    waiting: (count) => `${count} ${count === 1 ? 'wartet' : 'warten'}`,
    devices: 'Geräte und Sitzungen',
    notifications: 'Benachrichtigungen',
    security: 'Sicherheit',
  },

  overview: {
    title: 'Ihr Konto',
    unnamed: (id) => `Konto ${id}`,
    e2ee: 'Ende-zu-Ende-verschlüsselt',
    plain: 'Für den Server lesbar',
    keyed: 'Mit Geräteschlüssel',
    keyless: 'Ohne Geräteschlüssel',
    details: 'Einzelheiten',
    id: 'Konto-ID',
    created: 'Erstellt',
    signIn: 'Anmeldung',
    content: 'Inhalte',
    next: 'Nächste Schritte',
    waiting: (count) =>
      count === 1 ? 'Eine Anfrage wartet auf Sie' : `${count} Anfragen warten auf Sie`,
    waitingHint: 'Ein Programm auf Ihrem Computer fragt, bevor es handelt.',
    checkKey: 'Prüfen, ob Ihr Schlüssel gespeichert ist',
    checkKeyHint:
      'Dieser Browser vergisst Ihren Schlüssel, wenn Sie sich abmelden. Um wieder hineinzukommen, brauchen Sie Ihren gespeicherten Schlüssel.',
    notify: 'Benachrichtigungen einschalten',
    notifyHint: 'Sie erfahren sofort, wenn eine Sitzung auf Sie wartet.',
    sessions: (count) => (count === 1 ? '1 Sitzung' : `${count} Sitzungen`),
    sessionsHint: 'Wo Sie angemeldet sind',
    devices: (count) =>
      count < 2
        ? `${count || 'Kein'} Gerät erhält Benachrichtigungen`
        : `${count} Geräte erhalten Benachrichtigungen`,
    devicesHint: 'Telefone, Browser und andere Empfänger',
  },

  devices: {
    sessions: 'Sitzungen',
    programGranted:
      'Einem Programm wurde erlaubt, für Sie zu handeln. Sie finden es unter „Geräte und Sitzungen“.',
    sessionsLead: 'Wo Sie angemeldet sind. Beenden Sie, was Sie nicht kennen.',
    thisDevice: 'Dieses Gerät',
    current: 'Gerade aktiv',
    lastUsed: (when) => `Zuletzt verwendet ${when}`,
    signedIn: (when) => `Angemeldet ${when}`,
    end: 'Beenden',
    endNamed: (name) => `Sitzung von ${name} beenden`,
    ended: 'Die Sitzung ist beendet.',
    everywhere: 'Überall abmelden …',
    byKey: 'mit Geräteschlüssel',
    byCertificate: 'mit Zertifikat',
    byDevice: 'auf einem anderen Gerät bestätigt',
    byProvider: (name) => `über ${name}`,
    receivers: 'Geräte, die Benachrichtigungen erhalten',
    receiversLead: 'Eine App trägt sich ein, wenn Sie ihr Benachrichtigungen erlauben.',
    noReceivers: 'Noch erhält kein Gerät Benachrichtigungen',
    noReceiversHint: 'Erlauben Sie Benachrichtigungen in einer App oder in diesem Browser.',
    thisBrowser: 'Dieser Browser',
    added: (when) => `Hinzugefügt ${when}`,
    unnamed: {
      web: 'Ein Browser',
      ios: 'Ein iPhone oder iPad',
      android: 'Ein Android-Gerät',
      other: 'Ein Gerät',
    },
    rename: 'Umbenennen',
    renameTitle: 'Gerät umbenennen',
    nameSession: 'Sitzung benennen',
    name: 'Name',
    renamed: 'Der Name ist gespeichert.',
    removed: 'Das Gerät erhält keine Benachrichtigungen mehr.',
    add: 'Gerät hinzufügen …',
    addTitle: 'Gerät hinzufügen',
    addLead: 'Melden Sie ein neues Telefon oder einen Computer an, und bestätigen Sie es hier.',
    addLeadKeyed:
      'Melden Sie ein neues Telefon oder einen Computer an, ohne den Schlüssel abzutippen. Ein Browser erhält nur eine Sitzung: Er ersetzt nicht den gespeicherten Schlüssel.',
  },

  tests: {
    open: 'Testen …',
    title: (name) => `Test: ${name}`,
    show: 'Test anzeigen',
    shown:
      'Eine Testbenachrichtigung wurde angezeigt, ohne den Push-Dienst. Falls Sie keine sehen, erlauben Sie diesem Browser Benachrichtigungen in den Einstellungen Ihres Systems.',
    notShown: 'Es wurde kein Test angezeigt. Laden Sie diese Seite neu.',
    sampleTitle: 'Gatehouse-Test',
    sampleBody: 'Dieser Browser kann Ihre Benachrichtigungen anzeigen.',
    why: 'Der Server sendet keine Benachrichtigungen, und Push-Dienste nehmen von einer Webseite keine an. Um den ganzen Weg zu testen, führen Sie auf Ihrem Computer diesen Befehl aus, angemeldet mit diesem Konto:',
    outcome: 'Er meldet, ob der Push-Dienst den Test angenommen hat.',
  },

  add: deDevices.add,

  security: {
    identities: 'Verbundene Anbieter',
    identitiesLead: 'Anbieter, die Ihre Identität bestätigen.',
    connect: 'Verbinden',
    connectNamed: (name) => `${name} verbinden`,
    disconnect: 'Trennen',
    disconnectNamed: (name) => `${name} trennen`,
    disconnectTitle: (name) => `${name} trennen?`,
    disconnectLoss:
      'Dieser Server verlangt die Verbindung: Sie verlieren den Zugriff, bis Sie sie wiederherstellen. Ihre Daten bleiben erhalten.',
    disconnectHint: 'Sie können die Verbindung jederzeit wiederherstellen.',
    disconnectEnds:
      'Geräte, die sich damit angemeldet haben, werden abgemeldet, gegebenenfalls auch dieses.',
    lastIdentity: 'Ihr einziger Weg zur Anmeldung. Verbinden Sie vor dem Trennen einen weiteren.',
    connected: (name) => `${name} ist verbunden.`,
    disconnected: (name) => `${name} ist getrennt.`,
    connectSignIn: (name) => `Melden Sie sich an und verbinden Sie ${name} dann erneut.`,
    certificate: 'Zertifikat',
    required: 'Erforderlich',
    requiredHint: 'Von diesem Server verlangt',
    notConnected: 'Nicht verbunden',
    eligible: 'Bestätigt',
    ineligible: 'Nicht bestätigt',
    unknown: 'Nicht geprüft',
    checked: (when) => `Geprüft ${when}`,
    nextCheck: (when) => `Nächste Prüfung ${when}`,
    encryption: 'Verschlüsselung',
    e2ee: 'Ihre Inhalte werden auf Ihren Geräten verschlüsselt. Der Server speichert sie und kann sie nicht lesen. Ohne den Geräteschlüssel sind sie für immer unlesbar.',
    plain:
      'Der Server kann Ihre Inhalte lesen. Er schützt sie wie seine übrigen Daten, und Sie brauchen keinen Schlüssel.',
    modeDiffers:
      'Der Server gibt etwas anderes an. Dieser Browser verwendet die Inhalte erst, wenn Sie es unter Benachrichtigungen bestätigen.',
    key: 'Schlüssel prüfen oder drucken',
    keyView: 'Ihr Geräteschlüssel',
    keyLead: 'Geben Sie den Schlüssel ein, um ihn zu prüfen oder noch einmal zu drucken.',
    keyUnchecked:
      'Sie haben diesen Schlüssel hier noch nicht eingegeben. Geben Sie ihn so ein, wie Sie ihn gespeichert haben, oder scannen Sie ihn: Ohne ihn kann niemand das Konto wieder öffnen.',
    keyShow: 'Schlüssel zeigen oder drucken',
    keyKept: 'Dieser Tab hat Ihren Schlüssel im Speicher. Er wird 15 Minuten lang gezeigt.',
    keyCheck: 'Schlüssel prüfen',
    keyRight: 'Das ist der Schlüssel Ihres Kontos.',
    sheetTitle: (place) => `Geräteschlüssel für ${place}`,
    sheetLead:
      'Dieser Schlüssel gibt vollen Zugriff auf das Konto. Bewahren Sie dieses Blatt so auf, dass nur Sie es erreichen.',
    sheetUse: 'So melden Sie sich wieder an',
    sheetSteps: [
      'Öffnen Sie die Adresse des Servers in einem Browser.',
      'Wählen Sie Ihren Anbieter oder „Geräteschlüssel verwenden“.',
      'Scannen Sie den QR-Code, oder tippen Sie den Schlüssel ein.',
    ],
    sheetCommand: (server) => `In der Befehlszeile: gatehouse key restore --server ${server}`,
    sheetMade: 'Gedruckt am',
    sheetAddress: 'Server',
    sessions: 'Abmelden',
    sessionsLead: 'Beendet alle Sitzungen dieses Kontos, auch diese.',
    everywhere: 'Überall abmelden',
    everywhereTitle: 'Überall abmelden?',
    everywhereHint:
      'Alle Sitzungen enden, auch diese. Programme, die das Konto verwenden, müssen sich neu anmelden.',
    stay: 'Angemeldet bleiben',
    signedOut: 'Sie sind abgemeldet.',
    signedOutHere:
      'Sie sind abgemeldet, aber nur in diesem Browser: Der Server hat nicht geantwortet. Beenden Sie diese Sitzung von einem anderen Gerät aus, oder melden Sie sich nach der nächsten Anmeldung überall ab.',
    signedOutEverywhere: 'Sie sind auf allen Geräten abgemeldet.',
    delete: 'Konto löschen',
    deleteLead: 'Alles, was dieser Server dafür speichert, wird sofort gelöscht.',
    deleteOpen: 'Konto löschen …',
    deleteTitle: 'Konto löschen?',
    deleteHint:
      'Alles, was dieser Server dafür speichert, wird sofort gelöscht. Das lässt sich nicht rückgängig machen.',
    deleteWord: 'löschen',
    deleteLabel: (word) => `Geben Sie zur Bestätigung „${word}“ ein`,
    deleteKeep: 'Behalten',
    deleteSubmit: 'Endgültig löschen',
    deleted: 'Ihr Konto wurde gelöscht.',
  },

  keep: {
    opens: 'Dieser Browser behält Ihren Schlüssel. Ihr Passkey öffnet ihn.',
    type: 'Stattdessen den Schlüssel eingeben',
  },

  waiting: {
    ready: 'Ein Durchgang ist abgeschlossen.',
    permission_request: 'Eine Anfrage wartet auf Ihre Erlaubnis.',
    user_action_request: 'Eine Frage wartet auf Sie.',
    session: 'Sitzung',
    request: 'Anfrage',
    hint: 'Beantworten Sie sie in der App, die diese Sitzung zeigt.',
    server: 'Server',
    otherServer:
      'Sie ist von einem anderen Server, darum wurde nichts gesendet. Öffnen Sie die Seite jenes Servers.',
    denied: 'Die Anfrage ist abgelehnt.',
  },

  lock: {
    title: 'Ihre Einstellungen sind verschlüsselt',
    lead: 'Ihr Geräteschlüssel öffnet sie. Er wird nicht an den Server gesendet.',
    keep: 'Dieser Tab vergisst ihn, wenn Sie die Seite neu laden. Unter „Sicherheit“ können Sie ihn auf diesem Gerät behalten.',
    submit: 'Einstellungen öffnen',
  },

  errors: {
    channelInvalid:
      'Diese Adresse ist nicht verwendbar. Sie beginnt mit https:// oder http://, enthält weder Benutzernamen noch Passwort und nennt bei ntfy das Thema.',
    channelGone: 'Dieser Webhook wurde inzwischen entfernt.',
    channelForm: 'Die Webhooks sind in einer Form gespeichert, die diese Seite nicht lesen kann.',
    pushDenied:
      'Benachrichtigungen brauchen Ihre Erlaubnis. Geben Sie sie, wenn dieser Browser fragt, oder in seinen Einstellungen für diese Website.',
    pushAddress: 'Der Push-Dienst dieses Browsers gab keine verwendbare Adresse.',
    pushService: 'Der Push-Dienst dieses Browsers ist nicht erreichbar.',
    unreachable:
      'Der Server antwortet nicht. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
    unexpected: 'In dieser Seite ist ein unerwarteter Fehler aufgetreten. Laden Sie sie neu.',
    unexpectedAnswer:
      'Der Server hat eine Antwort gesendet, die diese Seite nicht versteht. Laden Sie sie neu.',
    retry: (when) => `Versuchen Sie es ${when} erneut.`,
    provider: 'Der Identitätsanbieter',
    refused: (code) => `Diese Anmeldung wurde abgelehnt (${code}).`,
    keyForm:
      'Das ist kein Geräteschlüssel. Schlüssel beginnen mit gatekey1; ältere haben 43 Zeichen.',
    keyChecksum: 'Dieser Geräteschlüssel enthält einen Tippfehler: Die Prüfsumme stimmt nicht.',
    otherKey: 'Das ist nicht der Geräteschlüssel dieses Kontos.',
    deviceKey: 'Der Schlüssel des neuen Geräts ist beschädigt. Beginnen Sie dort von vorn.',
    deviceOther:
      'Das Konto wurde nicht für dieses Gerät versiegelt. Der Server will Sie vielleicht täuschen: Es wurde nichts gespeichert.',
    deviceOlder: 'Das bestätigende Gerät ist veraltet. Aktualisieren Sie es und beginnen Sie neu.',
    deviceWords: 'Das sind nicht die Wörter des Geräts, das bestätigt hat. Beginnen Sie von vorn.',
    deviceServerOlder:
      'Dieser Server fügt Geräte in einer älteren Version hinzu, die nicht sicher ist. Sein Betreiber muss ihn aktualisieren.',
    deviceServerOther: 'Diese Adresse gehört nicht zu denen des Servers. Prüfen Sie sie.',
    passkeyCancelled:
      'Der Passkey wurde nicht verwendet. Die Anfrage wurde abgebrochen, oder der Passkey ist nicht auf diesem Gerät.',
    passkeyUnsuitable:
      'Dieser Passkey kann keinen Schlüssel verschlüsseln. Vielleicht kann es ein anderes Gerät oder ein anderer Browser.',
    passkeyDamaged:
      'Der Schlüssel, den dieser Browser behält, lässt sich nicht öffnen. Geben Sie den Schlüssel ein.',
    contentForm: 'Ein anderes Programm hat diesen Wert in einer eigenen Form verschlüsselt.',
    contentKey: 'Dieser Wert gehört zu einem anderen Schlüssel oder Konto oder wurde verändert.',
    contentText: 'Der entschlüsselte Wert ist kein JSON.',
    settingsConflict: 'Die Einstellungen ändern sich laufend. Versuchen Sie es gleich noch einmal.',
    settingsRefused:
      'Dieser Browser verwendet die Einstellungen dieses Kontos erst, wenn Sie sie unter Benachrichtigungen bestätigen.',
    settingsForm:
      'Die Einstellungen dieses Kontos liegen in einer Form vor, die diese Seite nicht lesen kann.',
    challenge:
      'Der Server hat eine Anfrage gesendet, die nicht von ihm stammt. Es wurde nichts signiert. Prüfen Sie die Adresse dieser Seite.',
    challengeClock:
      'Die Uhr dieses Geräts geht gegenüber der des Servers vor. Es wurde nichts signiert. Stellen Sie sie richtig, und versuchen Sie es erneut.',
  },

  returns: {
    access_denied: 'Sie oder der Anbieter haben die Anfrage abgelehnt.',
    not_eligible:
      'Der Anbieter hat Sie erkannt, aber die Regeln dieses Servers lassen Sie nicht zu.',
    invalid_state:
      'Diese Anmeldung wurde schon verwendet oder ist nach zehn Minuten abgelaufen. Beginnen Sie von vorn.',
    keyless_disabled: 'Auf diesem Server gibt es keine Konten ohne Geräteschlüssel.',
    e2ee_required: 'Dieser Server verlangt einen Geräteschlüssel.',
    upstream_error: 'Der Anbieter ist nicht erreichbar. Versuchen Sie es gleich noch einmal.',
    mtls_required: 'Ihr Browser hat kein Zertifikat gesendet, dem dieser Server vertraut.',
    restore_required: 'Ihr Konto hat einen Geräteschlüssel: Melden Sie sich damit an.',
    account_disabled: 'Dieses Konto ist gesperrt. Wenden Sie sich an den Betreiber des Servers.',
  },

  refusals: deRefusals,
};

function onSystem(system: string | null): string {
  if (system === null) {
    return '';
  }
  return system.startsWith('iP') ? ` auf dem ${system}` : ` unter ${system}`;
}
