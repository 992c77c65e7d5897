import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as client from '../../src/packages/client/index.js';

const ROOT = join(import.meta.dirname, '../..');

/** The pages whose examples use our packages, and what each leaves to its reader. */
const GIVEN: Readonly<Record<string, string>> = {
  'docs/administration.md': '',
  'docs/client-kit.md': `
    import type * as kit from '@gatehouse/client';
    import type { PinStore } from '@gatehouse/client';
    declare const pins: PinStore;
    declare const accountId: string, address: string, text: string, userCode: string;
    declare const target: kit.NotificationTarget, active: string, saved: readonly string[];
    declare const facts: Omit<kit.AgentRequest, 'v' | 'requestId' | 'kind'>;
    declare const store: kit.AskStore, signal: AbortSignal;
    declare const content: Omit<kit.DisplayedNotification, 'isAuthenticated'>;
    declare function run(): void;
    declare function ask(settings: unknown): Promise<boolean>;
    declare function render(shown: kit.ShownRequest): void;
    declare function show(words: readonly string[]): void;
    declare function askForThreeWords(): Promise<string>;
    declare function askWhose(accountId: string): Promise<boolean>;
    declare function askIfSame(words: readonly string[]): void;
    declare const isDevelopmentBuild: boolean, variables: NodeJS.ProcessEnv;
    declare const isAppOpen: boolean, viewing: null, isOnForDevice: boolean;
    declare const registration: ServiceWorkerRegistration, clients: any;
    declare function addEventListener(type: string, listen: (event: any) => void): void;`,
  'docs/connect-mcp.md': '',
  'docs/notifications.md': `
    import type { SavedToken } from '@gatehouse/notify';
    import type { DeviceServers, KnownAccount, NotificationAnswer, Screen } from '@gatehouse/client';
    declare const settings: unknown, tokens: readonly SavedToken[];
    declare const { active, saved }: DeviceServers, Platform: { readonly OS: string };
    declare function currentScreen(): Screen;
    declare function accountAt(serverUrl: string): Promise<KnownAccount | null>;
    declare function follow(answer: NotificationAnswer): void;`,
  'docs/protect-a-backend.md': 'declare const accessToken: string;',
  'docs/webhooks.md': 'declare const headers: Headers, rawBody: Uint8Array, secret: string;',
  'tools/packages/client/README.md': '',
  'tools/packages/guard/README.md': '',
  'tools/packages/notify/README.md': '',
  'tools/packages/webhooks/README.md': '',
};

const PAGES = ['docs', 'tools/packages'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `${folder}/${path}`)
    .sort(),
);
const BLOCK = /^```(ts|js)\b[^\n]*\n(.*?)^```/gms;
const IMPORT = /^import .*? from '(.*?)';$/ms;
/** JavaScript does not declare the types of parameters. */
const UNTYPED_PARAMETER = /^\S+\.js\.ts\(.*: error TS70(?:06|31): /;

/** Modules of the examples that have no types here. */
const UNTYPED = {
  'packages.d.ts': "declare module 'express';\ndeclare module 'ws';",
  'relay.d.ts': 'export const startRelay: any;',
};

/** Expo's types are installed for the full tier only, without what they run on. */
const HAS_EXPO = existsSync(join(ROOT, 'test/node_modules/expo-notifications'));

interface Program {
  readonly file: string;
  readonly code: string;
}

const OPTIONS = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    ...{ noUnusedLocals: false, noUnusedParameters: false, noUncheckedIndexedAccess: false },
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: ['node'],
    paths: {
      '@gatehouse/guard/testing': [join(ROOT, 'src/packages/guard/testing.ts')],
      '@gatehouse/*': [join(ROOT, 'src/packages/*/index.ts')],
    },
  },
  include: ['.'],
  exclude: [],
};

/**
 * Returns the programs in the examples of a page. An example that imports something starts one, and
 * those after it use its names, or declare them again.
 */
function programsOf(page: string): readonly Program[] {
  const programs: { language: string; examples: string[] }[] = [];
  for (const [, language = '', code = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(
    BLOCK,
  )) {
    if (IMPORT.test(code)) {
      programs.push({ language, examples: [] });
    }
    programs.at(-1)?.examples.push(code);
  }
  const name = page.replaceAll('/', '_').replace(/\.md$/, '');
  return programs.map(({ language, examples }, index) => ({
    file: `${name}-${index}.${language}${language === 'ts' ? '' : '.ts'}`,
    code: [
      ...importsFor(examples),
      GIVEN[page],
      examples.join('{'),
      ...examples.slice(1).map(() => '}'),
    ].join('\n'),
  }));
}

/** Imports the names of the client kit that only later examples use. */
function importsFor([first = '', ...later]: readonly string[]): readonly string[] {
  const names = Object.keys(client).filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(first) && later.some((code) => code.includes(name)),
  );
  return names.length === 0 ? [] : [`import { ${names.join()} } from '@gatehouse/client';`];
}

/** Returns the errors of the TypeScript compiler, a line each. */
async function errorsIn(folder: string): Promise<readonly string[]> {
  const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', '.'], {
    cwd: folder,
  }).catch((error: unknown) => error as { readonly stdout: string });
  return stdout.split('\n').filter((line) => line !== '' && !UNTYPED_PARAMETER.test(line));
}

/** The folder is below this one, so that the examples find the packages of the project. */
mkdirSync(join(ROOT, 'test/.cache'), { recursive: true });
const folder = mkdtempSync(join(ROOT, 'test/.cache/typed-examples-'));

afterAll(() => rmSync(folder, { recursive: true }));

it('has no page with examples of our packages that is missing here', () => {
  const pages = PAGES.filter((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(BLOCK)].some(([, , code = '']) =>
      code.includes("from '@gatehouse/"),
    ),
  );
  expect(pages).toEqual(Object.keys(GIVEN));
});

it('has examples that TypeScript accepts under strict', async () => {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS));
  const programs = Object.keys(GIVEN)
    .flatMap(programsOf)
    .filter(({ code }) => HAS_EXPO || !code.includes("from 'expo-notifications'"));
  const modules = Object.entries(UNTYPED).map(([file, code]) => ({ file, code }));
  for (const { file, code } of [...programs, ...modules]) {
    writeFileSync(join(folder, file), code);
  }
  expect(await errorsIn(folder)).toEqual([]);
});
