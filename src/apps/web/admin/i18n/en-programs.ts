/** Texts about the programs of an account. */
export const programs = {
  title: 'Programs',
  lead: 'They may act for this person, and end with the access of the account.',
  none: 'No program may act for this person.',
  at: (backend: string) => `at ${backend}`,
  computer: 'on the computer of the person',
  app: (scheme: string) => `the app of ${scheme}: links`,
  file: 'a file of one machine',
  approved: (when: string, method: string) => `allowed ${when} with ${method}`,
  until: (date: string) => `until ${date}`,
  endNamed: (name: string, backend: string) => `End the access of ${name} at ${backend}`,
  endAllNamed: (name: string) => `End all access of ${name}`,
  endOne: {
    open: 'End…',
    title: 'End this access?',
    lead: 'The program can do nothing more at the backend. The person can allow it again.',
    submit: 'End the access',
    done: 'The access has ended.',
  },
  endAll: {
    open: 'End all…',
    title: 'End all of this access?',
    lead: 'These programs can do nothing more at the backends. The person can allow them again.',
    submit: 'End all access',
    done: 'All of this access has ended.',
  },
};
