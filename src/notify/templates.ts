/**
 * Every word that a notification says by itself. Give another object of this type to send in
 * another language; whatever it returns is cleaned and shortened like the rest.
 */
export interface Templates {
  readonly title: {
    readonly ready: (session: string) => string;
    readonly permissionRequest: (session: string) => string;
    readonly userActionRequest: (session: string) => string;
  };
  /** Bodies that give nothing away: for previews that are off, and where there is nothing to show. */
  readonly genericBody: {
    readonly ready: string;
    readonly permissionRequest: string;
    readonly userActionRequest: string;
  };
  readonly command: (command: string) => string;
  readonly filePath: (path: string) => string;
  readonly explanation: (text: string) => string;
  readonly option: (position: number, label: string, description: string | null) => string;
  readonly answerHint: (allowsSeveral: boolean, allowsCustomAnswer: boolean) => string | null;
  readonly plan: (plan: string) => string;
  readonly historyImport: (explanation: string) => string;
  readonly url: (url: string) => string;
  readonly searchQuery: (query: string) => string;
}

const titled = (words: string) => (session: string) =>
  session === '' ? words : `${words}: ${session}`;

export const ENGLISH: Templates = {
  title: {
    ready: titled('Ready'),
    permissionRequest: titled('Permission needed'),
    userActionRequest: titled('Answer needed'),
  },
  genericBody: {
    ready: 'The turn is finished. It is waiting for you.',
    permissionRequest: 'Something needs your permission to go on.',
    userActionRequest: 'A question is waiting for your answer.',
  },
  command: (command) => `Command: ${command}`,
  filePath: (path) => `File: ${path}`,
  explanation: (text) => `Why: ${text}`,
  option: (position, label, description) =>
    description === null ? `${position}. ${label}` : `${position}. ${label} – ${description}`,
  answerHint: (allowsSeveral, allowsCustomAnswer) => {
    const hints = [
      ...(allowsSeveral ? ['You may choose several.'] : []),
      ...(allowsCustomAnswer ? ['You may answer in your own words.'] : []),
    ];
    return hints.length === 0 ? null : hints.join(' ');
  },
  plan: (plan) => `Plan to approve:\n${plan}`,
  historyImport: (explanation) => `Import of history: ${explanation}`,
  url: (url) => `Address: ${url}`,
  searchQuery: (query) => `Search for: ${query}`,
};
