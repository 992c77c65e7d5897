import type { refusedMessages } from './refused-messages.js';

export const deRefused: typeof refusedMessages = {
  title: 'Sie haben zurzeit keinen Zugang',
  kept: 'Ihr Konto und seine Daten bleiben erhalten.',
  reasons: {
    user_not_allowed: 'Ihre Identität bei {provider} steht nicht auf der Liste mit Zugang.',
    email_unverified: 'Ihre E-Mail-Adresse bei {provider} ist nicht bestätigt.',
    email_domain_not_allowed: 'Die Domain Ihrer E-Mail-Adresse bei {provider} hat keinen Zugang.',
    groups_unavailable: '{provider} teilt nicht mit, in welchen Gruppen Sie sind.',
    group_missing: 'Sie sind bei {provider} in keiner Gruppe, die Zugang hat.',
    organization_membership_pending:
      'Sie haben die Einladung in die Organisation noch nicht angenommen.',
    organization_membership_missing: 'Sie sind in keiner Organisation, die Zugang hat.',
    directory_inactive: 'Das Verzeichnis von {provider} hat Sie deaktiviert.',
    directory_missing: 'Sie sind nicht im Verzeichnis von {provider}.',
    signal_disabled: '{provider} meldet, dass Ihr Konto dort gesperrt ist.',
    account_not_found: '{provider} kennt Ihr dortiges Konto nicht mehr.',
    account_suspended: 'Ihr Konto bei {provider} ist gesperrt.',
    invalid_grant: '{provider} hat Ihre dortige Anmeldung beendet.',
    token_revoked: 'Die Erlaubnis, die Sie bei {provider} gegeben haben, wurde widerrufen.',
    revoked: 'Ihr Zertifikat wurde widerrufen.',
    expired: 'Ihr Zertifikat ist abgelaufen.',
    not_trusted: 'Dieser Server vertraut Ihrem Zertifikat nicht mehr.',
  },
  signedOut: 'Ihre Anmeldung bei {provider} wurde beendet oder ist zu alt.',
  connect: (name) => `${name} jetzt verbinden`,
  signInAgain: (name) => `Bei ${name} neu anmelden`,
  certificateAgain: 'Zertifikat neu vorlegen',
  checkAgain: 'Noch einmal prüfen',
  stillRefused: 'Es hat sich noch nichts geändert.',
  connectHint: 'Sobald die Verbindung besteht, haben Sie Zugang.',
  signInHint: 'Sobald Sie dort angemeldet sind, haben Sie Zugang.',
  restoredHint:
    'Sobald Sie wieder berechtigt sind, melden Sie sich dort neu an: Dieser Server fragt dann sofort nach.',
  certificateHint:
    'Ein anderes Zertifikat wird vielleicht angenommen: Wählen Sie es hier, oder melden Sie sich auf dem Gerät an, das es hat.',
  nextCheck: (when) => `Dieser Server fragt auch von selbst nach, das nächste Mal ${when}.`,
  askLabel: 'Hilfe',
  ask: 'Der Betreiber dieses Servers.',
  giveId: 'Nennen Sie ihm Ihre Konto-ID.',
  steps: {
    'not-eligible':
      'Sobald Sie berechtigt sind, melden Sie sich neu an. Wenn Sie beim Anbieter das falsche Konto verwendet haben, melden Sie sich dort zuerst ab.',
    'account-disabled':
      'Nur die Administration kann es wieder freigeben. Melden Sie sich danach neu an.',
    'signup-disabled':
      'Wenn Sie schon ein Konto haben, verwenden Sie seinen Schlüssel, seinen Anbieter oder ein anderes Gerät. Sonst bitten Sie um eine Einladung.',
    'invitation-invalid': 'Bitten Sie um eine neue Einladung.',
    'signup-provider-disabled':
      'Wenn Sie schon ein Konto haben, melden Sie sich mit seinem Schlüssel oder auf einem anderen Gerät an.',
    'keyless-disabled':
      'Wenn Sie einen Geräteschlüssel haben, melden Sie sich damit an, oder verwenden Sie ein anderes Gerät.',
    'e2ee-required':
      'Wenn Sie einen Geräteschlüssel haben, melden Sie sich damit an, oder verwenden Sie ein anderes Gerät.',
    'key-challenge-disabled':
      'Melden Sie sich über einen Anbieter an, oder verwenden Sie ein anderes Gerät.',
  },
};
