import type { Texts } from './en.js';

/** German texts about the programs of an account. */
export const programs: Texts['programs'] = {
  title: 'Programme',
  lead: 'Sie dürfen für diese Person handeln und enden mit dem Zugang des Kontos.',
  none: 'Kein Programm darf für diese Person handeln.',
  at: (backend) => `bei ${backend}`,
  computer: 'auf dem Computer der Person',
  app: (scheme) => `die App für Links mit ${scheme}:`,
  file: 'eine Datei auf einem Rechner',
  approved: (when, method) => `erlaubt ${when} mit ${method}`,
  until: (date) => `bis ${date}`,
  endNamed: (name, backend) => `Zugriff von ${name} bei ${backend} beenden`,
  endAllNamed: (name) => `Jeden Zugriff von ${name} beenden`,
  endOne: {
    open: 'Beenden …',
    title: 'Diesen Zugriff beenden?',
    lead: 'Das Programm kann beim Backend nichts mehr tun. Die Person kann es erneut erlauben.',
    submit: 'Zugriff beenden',
    done: 'Der Zugriff ist beendet.',
  },
  endAll: {
    open: 'Alle beenden …',
    title: 'Alle diese Zugriffe beenden?',
    lead: 'Diese Programme können bei den Backends nichts mehr tun. Die Person kann sie erneut erlauben.',
    submit: 'Alle Zugriffe beenden',
    done: 'Alle diese Zugriffe sind beendet.',
  },
};
