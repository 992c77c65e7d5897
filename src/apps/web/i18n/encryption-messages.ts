import { loaderOf } from './messages.js';

/** English texts of the choice of encryption, by the mode that the account would change to. */
export const encryptionMessages = {
  plain: {
    open: 'Turn off the encryption…',
    title: 'Turn off the end-to-end encryption?',
    hint: 'Your settings and credentials are decrypted in this browser and stored so that the server can read them. Devices and senders then need no key to read them. You still sign in with the key.',
    submit: 'Turn it off',
    done: 'The server can now read your content.',
  },
  e2ee: {
    open: 'Turn on the encryption…',
    title: 'Turn on the end-to-end encryption?',
    hint: 'Your settings and credentials are encrypted in this browser. Afterwards only your device key opens them. If you lose it, they are lost.',
    submit: 'Turn it on',
    done: 'Your content is now end-to-end encrypted.',
  },
};

const de: typeof encryptionMessages = {
  plain: {
    open: 'Verschlüsselung ausschalten …',
    title: 'Ende-zu-Ende-Verschlüsselung ausschalten?',
    hint: 'Ihre Einstellungen und Zugangsdaten werden in diesem Browser entschlüsselt und so gespeichert, dass der Server sie lesen kann. Geräte und Sender brauchen zum Lesen dann keinen Schlüssel. Sie melden sich weiterhin mit dem Schlüssel an.',
    submit: 'Ausschalten',
    done: 'Der Server kann Ihre Inhalte jetzt lesen.',
  },
  e2ee: {
    open: 'Verschlüsselung einschalten …',
    title: 'Ende-zu-Ende-Verschlüsselung einschalten?',
    hint: 'Ihre Einstellungen und Zugangsdaten werden in diesem Browser verschlüsselt. Danach öffnet sie nur noch Ihr Geräteschlüssel. Geht er verloren, sind auch sie verloren.',
    submit: 'Einschalten',
    done: 'Ihre Inhalte sind jetzt Ende-zu-Ende-verschlüsselt.',
  },
};

/** Loads the texts of the language now, and again when it changes. */
export const loadEncryptionMessages = loaderOf(encryptionMessages, () => de);
