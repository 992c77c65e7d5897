import { existsSync } from 'node:fs';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Page,
} from 'playwright-core';
import { WAIT_LIMIT_MS, waitFor } from './wait.js';

/** Knows notifications and a desktop's bus, and takes three times the work of the other one. */
const CHROMIUM = '/usr/bin/chromium';
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';
/** The tests may run as root, on a machine without a display or a way out. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Fewer processes to start.
  '--disable-extensions',
  '--in-process-gpu',
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  // Names that resolve to this machine, and are not localhost for a browser.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

/** A start may take long on a slow machine. */
const LIMITED = { timeout: WAIT_LIMIT_MS };

/** Requests that fail, and a header that counts for https alone, are listed as errors too. */
const NO_FAULT = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;

/** Whether the machine has Chromium; where it must (CI), its absence is an error. */
export function hasChromium(): boolean {
  if (existsSync(CHROMIUM) && existsSync(HEADLESS_SHELL)) {
    return true;
  }
  const install = 'On Debian: apt-get install chromium chromium-headless-shell';
  if (process.env['CI'] === 'true') {
    throw new Error(`These tests need Chromium. ${install}`);
  }
  process.stderr.write(`NOT RUN: tests in a browser. ${install}\n`);
  return false;
}

/** @param flags beside those that all tests need */
export function startChromium(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    ...LIMITED,
    executablePath: HEADLESS_SHELL,
    args: [...FLAGS, ...flags],
  });
}

/**
 * A browser with one profile, as a person has it: clicks on notifications reach no other.
 *
 * @param directory of the profile
 * @param variables of its environment, beside those of this process
 */
export function startProfile(
  directory: string,
  variables: Readonly<Record<string, string>>,
): Promise<BrowserContext> {
  const env = { ...process.env, ...variables };
  return chromium.launchPersistentContext(directory, {
    ...LIMITED,
    executablePath: CHROMIUM,
    args: FLAGS,
    env,
  });
}

/** A person with a separate browser context. */
export interface Visitor {
  readonly page: Page;
  /** Errors of scripts, and everything that the Content-Security-Policy blocked. */
  readonly browserErrors: readonly string[];
  /** What the page shows, as text. */
  text(): Promise<string>;
  press(name: string | RegExp): Promise<void>;
  close(): Promise<void>;
}

/** Without options in a context that former persons used, and left empty: what starts it is spared. */
export async function visit(
  browser: Browser,
  url: string,
  options?: BrowserContextOptions,
): Promise<Visitor> {
  if (options !== undefined) {
    const context = await browser.newContext(options);
    const visitor = await visitIn(context, url);
    return { ...visitor, close: () => context.close() };
  }
  const unused = unusedContexts.get(browser) ?? [];
  unusedContexts.set(browser, unused);
  const kept = unused.pop() ?? (await createKeptContext(browser));
  const visitor = await visitIn(kept.context, url);
  const origins = new Set([new URL(url).origin]);
  visitor.page.on('framenavigated', (frame) => origins.add(new URL(frame.url()).origin));
  let isOpen = true;
  return {
    ...visitor,
    close: async () => {
      if (isOpen) {
        isOpen = false;
        await empty(kept, [...origins]);
        unused.push(kept);
      }
    },
  };
}

/** A context with a tab that stays empty: its process serves the tabs of all persons. */
interface KeptContext {
  readonly context: BrowserContext;
  readonly devTools: CDPSession;
}

const unusedContexts = new WeakMap<Browser, KeptContext[]>();

async function createKeptContext(browser: Browser): Promise<KeptContext> {
  const context = await browser.newContext();
  return { context, devTools: await context.newCDPSession(await context.newPage()) };
}

async function empty({ context, devTools }: KeptContext, origins: string[]): Promise<void> {
  const [, ...pages] = context.pages();
  await Promise.all(pages.map((page) => page.close()));
  await context.clearCookies();
  await context.clearPermissions();
  for (const origin of origins.filter((one) => one !== 'null')) {
    await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  }
}

/** A tab of its own in this context. */
export async function visitIn(context: BrowserContext, url: string): Promise<Visitor> {
  // Of the pages that a test or a script opens there, too.
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  const page = await context.newPage();
  const browserErrors: string[] = [];
  page.on('pageerror', (error) => browserErrors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !NO_FAULT.test(message.text())) {
      browserErrors.push(message.text());
    }
  });
  await page.goto(url);
  return {
    page,
    browserErrors,
    text: () => page.locator('body').innerText(),
    press: (name) => page.getByRole('button', { name, exact: true }).click(),
    close: () => page.close(),
  };
}

/**
 * Gives a decrypted message to the service worker of the account page, as the browser does.
 *
 * @param page any of the profile
 * @param origin of the server
 */
export async function deliverPush(page: Page, origin: string, data: string): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  const found = new Promise<string>((done) =>
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.filter(({ isDeleted, scopeURL }) => {
        return !isDeleted && scopeURL === `${origin}/app/`;
      });
      own.forEach(({ registrationId }) => done(registrationId));
    }),
  );
  await devTools.send('ServiceWorker.enable');
  const message = { origin, registrationId: await found, data };
  await devTools.send('ServiceWorker.deliverPushMessage', message);
  await devTools.detach();
}

/** The notifications in the browser's own list, as the newest service worker reads it. */
export async function listNotifications(context: BrowserContext): Promise<unknown> {
  const worker = context.serviceWorkers().at(-1);
  return worker?.evaluate(
    `self.registration.getNotifications().then((all) =>
      all.map(({ title, body, tag, silent, data }) => ({ title, body, tag, silent, data })))`,
  );
}

/** Leaves for an empty page; the newest service worker sees the window for a moment longer. */
export async function leavePage({ page }: Visitor): Promise<void> {
  await page.goto('about:blank');
  const worker = page.context().serviceWorkers().at(-1);
  await waitFor('no window', async () => {
    const windows = `self.clients.matchAll({ type: 'window', includeUncontrolled: true })`;
    return (await worker?.evaluate(`${windows}.then((all) => all.length)`)) === 0;
  });
}

/** Has the newest service worker wait for the answer of a page as long as that takes. */
export async function giveWorkerTime(context: BrowserContext): Promise<void> {
  const worker = context.serviceWorkers().at(-1);
  await worker?.evaluate(
    `(() => {
      const wait = self.setTimeout;
      self.setTimeout = (work, ms) => wait(work, 10_000 * ms);
    })()`,
  );
}
