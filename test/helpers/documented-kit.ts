import { readFileSync } from 'node:fs';

const PAGE = readFileSync(new URL('../../docs/client-kit.md', import.meta.url), 'utf8');
const [FIRST_SECTIONS = ''] = PAGE.split('## Sign in through a provider');

/** The first sections of docs/client-kit.md, whose code blocks are one program. */
export const KIT_SECTIONS = FIRST_SECTIONS;

export function kitProgram(serverUrl: string): string {
  const blocks = [...KIT_SECTIONS.matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block);
  return blocks.join('').replace('http://127.0.0.1:3000', serverUrl);
}

/** The output of the program, line by line. */
export const KIT_OUTPUT = [
  '{ canLogIn: true, canSignUp: true, canSignUpInvited: false }',
  'true keyed',
  "[ 'my-push-token' ]",
  '{ success: true, version: 1 }',
  'version-mismatch',
  'e2ee',
  'the account is at 2',
  'update 3 push-tokens-changed',
  'stopped: token-revoked after 3',
];
