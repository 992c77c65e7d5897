import type { RefusalCode } from '../../../packages/client/api/problem.js';

export const deRefusals: Record<RefusalCode, string> = {
  'invalid-request': 'Der Server hat die Eingabe nicht angenommen.',
  'invalid-public-key': 'Der Server hat diesen Schlüssel nicht angenommen.',
  'invalid-pending':
    'Diese Anmeldung ist abgelaufen oder schon abgeschlossen. Beginnen Sie von vorn.',
  'invalid-proof':
    'Diese Anmeldung wurde auf einem anderen Gerät oder mit einem anderen Schlüssel begonnen.',
  'invalid-return-to':
    'Der Server leitet nicht zu dieser Seite zurück. Der Betreiber muss das erlauben.',
  'content-mode-mismatch': 'Die Verschlüsselung Ihres Kontos hat sich geändert. Laden Sie neu.',
  'plain-account-requires-settings-v2':
    'Dieses Konto speichert Einstellungen ohne Verschlüsselung.',
  'oauth-not-configured': 'Der Server weiß nach {provider} nicht, wohin er zurückleiten soll.',
  'missing-token': 'Sie sind nicht angemeldet.',
  'invalid-token': 'Ihre Sitzung ist nicht mehr gültig. Melden Sie sich erneut an.',
  'token-expired': 'Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.',
  'token-revoked': 'Ihre Sitzung wurde beendet. Melden Sie sich erneut an.',
  'invalid-client': 'Die Anmeldung dieser App an ihrem Server ist ungültig.',
  'invalid-target': 'Dieser Server stellt für diese Adresse keine Token aus.',
  'unsupported-grant-type': 'Dieser Server stellt auf diese Weise keine Tokens aus.',
  'invalid-scope': 'Dieser Server kennt diesen Umfang eines Tokens nicht.',
  'invalid-grant': 'Der Zugriff dieses Programms wurde verbraucht, ersetzt oder beendet.',
  'invalid-redirect':
    'Das Programm hat die Adresse nicht angemeldet, an die es zurückkehren möchte.',
  'unsupported-client-authentication':
    'Das Programm möchte sich selbst ausweisen. Dieser Server nimmt nur öffentliche Programme an.',
  'unsupported-response-type': 'Dieser Server antwortet Programmen nur mit einem Code.',
  'interaction-required': 'Dieser Server fragt immer den Menschen, ob ein Programm handeln darf.',
  'unsupported-token-type': 'Der Server kann dieses Token nicht widerrufen.',
  'insufficient-scope': 'Das Token reicht für diese Aktion nicht aus.',
  'too-many-streams': 'Dieser Dienst verwendet bereits alle seine Ereignisströme.',
  'invalid-signature': 'Der Server hat die Signatur dieses Schlüssels nicht angenommen.',
  'challenge-required': 'Der Server verlangt eine Prüfung. Melden Sie sich erneut an.',
  'challenge-expired': 'Die Anmeldung hat zu lange gedauert. Versuchen Sie es erneut.',
  'mtls-required': 'Ihr Browser hat kein Zertifikat gesendet, dem dieser Server vertraut.',
  'invalid-code': 'Dieser Code ist abgelaufen oder wurde schon verwendet. Melden Sie sich neu an.',
  'fresh-login-required':
    'Melden Sie sich dafür erneut an: Die letzte Anmeldung darf nur Minuten her sein.',
  'signup-disabled': 'Dieser Server nimmt keine neuen Konten allein mit Geräteschlüssel an.',
  'invitation-invalid':
    'Diese Einladung ist nicht gültig: Prüfen Sie den Code. Vielleicht ist sie abgelaufen oder schon verbraucht.',
  'provider-required': 'Verbinden Sie {provider}, um fortzufahren.',
  'not-eligible': '{provider} bestätigt nicht, dass Sie diesen Server verwenden dürfen.',
  'admin-role-required': 'Dafür ist eine Administrationsrolle mit Schreibrecht nötig.',
  'account-disabled': 'Dieses Konto wurde von der Administration gesperrt.',
  'signup-provider-disabled': 'Über {provider} können hier keine Konten erstellt werden.',
  'keyless-disabled': 'Dieser Server bietet hier keine Anmeldung ohne Geräteschlüssel.',
  'e2ee-required': 'Auf diesem Server gibt es nur Konten mit Geräteschlüssel.',
  'encrypted-writes-disabled': 'Dieser Server speichert nur unverschlüsselte Inhalte.',
  'plaintext-writes-disabled': 'Dieser Server speichert nur verschlüsselte Inhalte.',
  'account-optout-disabled': 'Auf diesem Server lässt sich die Verschlüsselung nicht ändern.',
  'origin-not-allowed': 'Der Server nimmt von der Adresse dieser Seite keine Anfragen an.',
  'key-challenge-disabled': 'Die Anmeldung mit Geräteschlüssel ist hier abgeschaltet.',
  'not-found': 'Das gibt es nicht oder nicht mehr.',
  'unsupported-provider': 'Diesen Identitätsanbieter gibt es auf diesem Server nicht.',
  'provider-already-linked': 'Diese Identität bei {provider} oder eine andere ist schon verbunden.',
  'last-identity':
    'Nichts anderes meldet Sie bei diesem Konto an. Verbinden Sie zuerst einen weiteren Anbieter, oder löschen Sie das Konto.',
  'restore-required':
    'Diese Identität gehört zu einem Konto mit Geräteschlüssel. Melden Sie sich damit an.',
  'already-answered': 'Das wurde schon beantwortet.',
  'request-expired': 'Die Zeit für diese Anfrage ist abgelaufen.',
  'request-id-used': 'Eine andere Anfrage hat diese Kennung.',
  'too-many-open-requests':
    'Zu viele Anfragen warten auf eine Antwort. Beantworten Sie einige, oder ziehen Sie sie zurück.',
  'request-changed':
    'Das ist nicht die Anfrage, die angezeigt wurde. Beginnen Sie im Programm von vorn.',
  'migration-required': 'Die gespeicherten Daten müssen zuerst umgestellt werden.',
  'payload-too-large': 'Das ist größer, als der Server annimmt.',
  'unsupported-media-type': 'Der Server hat die Anfrage nicht verstanden. Laden Sie neu.',
  'sessions-remain':
    'Die Person hat hier noch Sitzungen, die keine Anmeldung bei {provider} brauchen.',
  'rate-limited': 'Zu viele Anfragen.',
  internal: 'Auf dem Server ist etwas schiefgegangen. Versuchen Sie es später erneut.',
  unavailable: 'Der Server kann das gerade nicht beantworten.',
};
