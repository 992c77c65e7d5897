import { loaderOf } from './messages.js';

/** English texts of the key that this browser keeps. */
export const keepMessages = {
  title: 'Key on this device',
  lead: 'You decide whether this browser keeps the key. Without it, you enter the key again each time the page is loaded.',
  keptLead: 'A passkey opens the key, so you need not type it while you are signed in here.',
  isKept: 'Kept',
  risk: 'The key is stored encrypted, and only a passkey (your fingerprint, face or PIN) opens it. The risk: a person who can use this passkey gets the key, and with it the whole account. While the key is open, a page that a hostile server changed can read it. Do not choose this on a device that you share.',
  ends: 'This browser forgets the key when you sign out, when this session ends anywhere, and when its data is deleted. It does not replace your saved key.',
  securityKey: 'This device has no passkeys of its own. You need a security key with a PIN.',
  unsupported: 'This browser cannot encrypt with a passkey. Therefore it keeps no key.',
  atAddress: 'To keep the key, open this page by its host name: an IP address has no passkeys.',
  enterFirst: 'Enter your key above first.',
  start: 'Keep the key with a passkey…',
  done: 'This browser keeps the key until this session ends.',
  forget: 'Forget the key on this device',
  forgotten: 'This browser has forgotten the key. Its passkey opens nothing: you can delete it.',
  passkey: (id: string) => `Device key of account ${id}`,
};

const de: typeof keepMessages = {
  title: 'Schlüssel auf diesem Gerät',
  lead: 'Sie entscheiden, ob dieser Browser den Schlüssel behält. Ohne ihn geben Sie den Schlüssel jedes Mal ein, wenn die Seite geladen wird.',
  keptLead:
    'Ein Passkey öffnet den Schlüssel. Solange Sie hier angemeldet sind, müssen Sie ihn nicht eingeben.',
  isKept: 'Gespeichert',
  risk: 'Der Schlüssel wird verschlüsselt gespeichert, und nur ein Passkey (Fingerabdruck, Gesicht oder PIN) öffnet ihn. Das Risiko: Wer diesen Passkey verwenden kann, erhält den Schlüssel und damit das ganze Konto. Solange der Schlüssel offen ist, kann ihn eine Seite lesen, die ein feindlicher Server verändert hat. Wählen Sie das nicht auf einem Gerät, das Sie mit anderen teilen.',
  ends: 'Dieser Browser vergisst den Schlüssel, wenn Sie sich abmelden, wenn diese Sitzung irgendwo beendet wird und wenn seine Daten gelöscht werden. Er ersetzt nicht Ihren gesicherten Schlüssel.',
  securityKey:
    'Dieses Gerät hat keine eigenen Passkeys. Sie brauchen einen Sicherheitsschlüssel mit PIN.',
  unsupported:
    'Dieser Browser kann nicht mit einem Passkey verschlüsseln. Deshalb behält er keinen Schlüssel.',
  atAddress:
    'Um den Schlüssel zu behalten, öffnen Sie diese Seite unter ihrem Hostnamen: Für eine IP-Adresse gibt es keine Passkeys.',
  enterFirst: 'Geben Sie zuerst oben Ihren Schlüssel ein.',
  start: 'Schlüssel mit einem Passkey behalten …',
  done: 'Dieser Browser behält den Schlüssel, bis diese Sitzung endet.',
  forget: 'Schlüssel auf diesem Gerät vergessen',
  forgotten:
    'Dieser Browser hat den Schlüssel vergessen. Sein Passkey öffnet nichts mehr: Sie können ihn löschen.',
  passkey: (id) => `Geräteschlüssel des Kontos ${id}`,
};

/** Loads the texts of the language now, and again when it changes. */
export const loadKeepMessages = loaderOf(keepMessages, () => de);
