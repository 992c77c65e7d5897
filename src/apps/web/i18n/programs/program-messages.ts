import { loaderOf } from '../messages.js';

/** Texts of the programs that act for a person. */
export const programMessages = {
  request: {
    title: (name: string) => `Allow ${name}?`,
    lead: (resource: string) => `This program wants to act for you at ${resource}.`,
    signedIn: (name: string) => `Signed in as ${name}.`,
    other: 'Use another account',
    returns: 'Your answer goes to',
    computer: 'a program on this computer',
    app: (scheme: string) => `the app that opens ${scheme}: links`,
    publisher: 'Published by',
    configured: 'Set up by',
    operator: 'The operator of this server',
    unproven: 'The name of a program proves nothing. Allow it only if you started it yourself.',
    may: 'It may',
    until: (date: string) => `Until ${date}, or until you end it under Devices and sessions.`,
    allow: 'Allow',
    cancel: 'Cancel',
    leaving: 'You are taken back to the program. Afterwards you can close this page.',
    toAccount: 'To your account',
    refused: 'This request cannot be answered',
    restart: 'Start again in the program.',
    report: 'If that changes nothing, report it to the operator of this server.',
    forProgram: 'A program wants to act for you. Sign in to see what it asks for.',
    forOther: 'Sign in with another account to answer the program.',
    samePicked: 'If a provider picks the same account again, sign out at the provider first.',
    back: 'Back to the request',
  },
  errors: {
    'invalid-client':
      'This server does not know the program, or cannot read what its maker publishes of it.',
    'unsupported-client-authentication':
      'The program wants to prove itself with a key of its own, which this server does not support.',
    'invalid-redirect': 'The program did not register the address to which it wants to return.',
    'invalid-target': 'The program asks for a service that does not accept programs here.',
    'invalid-scope': 'The program asks for something that this service does not offer.',
    'request-expired': 'The request of the program was answered, or its ten minutes are over.',
    other: 'The request of the program is not valid.',
  },
  section: {
    title: 'Programs',
    lead: 'Programs that may act for you, such as coding agents. Each ends with your access here.',
    none: 'No program may act for you.',
    at: (resource: string) => `at ${resource}`,
    used: (when: string) => `Last used ${when}`,
    file: 'a file of the gatehouse command',
    approved: (when: string) => `allowed ${when}`,
    until: (date: string) => `until ${date}`,
    end: 'End',
    endNamed: (name: string) => `End: ${name}`,
    endCount: (count: number) => `End all ${count}`,
    endAll: 'End all',
    ended: 'The access of the program was ended.',
  },
};

/** Loads the texts of the language now, and again when it changes. */
export const loadProgramMessages = loaderOf(
  programMessages,
  async () => (await import('./de-programs.js')).dePrograms,
);
