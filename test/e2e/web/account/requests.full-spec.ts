import type { Asker } from '../../../fixtures/asker-fixture.js';
import { addAuthenticator } from '../../../fixtures/passkey-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { sees as seesIn, seesAccount, seesSignIn } from '../account-page-acts.js';
import { openRequests as openRequestsIn, signUpAsker } from '../request-page-acts.js';

const KEEP = 'Keep the keys in this browser';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('requests on the account page', () => {
  let visitor: Visitor;
  let secret: string;

  beforeEach(async () => {
    // A host name: browsers allow no passkeys at an IP address.
    visitor = await visit(`http://localhost:${server.port}/app`);
  });

  const sees = (words: string | RegExp) => seesIn(visitor, words);
  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const inList = (words: string) => visitor.page.getByRole('link', { name: words });

  const openRequests = () => openRequestsIn(visitor);

  async function signUp(stays = true): Promise<Asker> {
    const { asker, key } = await signUpAsker(visitor, server, stays);
    secret = key;
    return asker;
  }

  const storedKeys = () =>
    visitor.page.evaluate<{ count: number; readable: string[] }>(`(async () => {
      const found = await indexedDB.databases();
      if (!found.some(({ name }) => name === 'gatehouse')) return { count: 0, readable: [] };
      const database = await new Promise((resolve) => {
        const request = indexedDB.open('gatehouse');
        request.onsuccess = () => resolve(request.result);
      });
      const entries = await new Promise((resolve) => {
        const request = database.transaction('request-keys').objectStore('request-keys').getAll();
        request.onsuccess = () => resolve(request.result);
      });
      database.close();
      const readable = entries.flatMap(({ keys }) => Object.entries(keys))
        .filter(([, key]) => key.extractable).map(([name]) => name);
      return { count: entries.length, readable };
    })()`);

  it('shows what runs, sends a signed answer, and says when the computer has it', async () => {
    const asker = await signUp();
    await openRequests();
    await sees('No requests');
    const asked = await asker.ask();
    await inList('npm test').click();
    await sees('/srv/app');
    await sees('Expires');
    await button('Allow').click();
    await sees('has not yet confirmed');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'allow', isSigned: true });
    await asker.take(asked);
    await sees('You allowed this, and the computer received your answer.');
    expect(await visitor.text()).not.toContain('Expires');
  });

  it('answers questions with the chosen option, or declines', async () => {
    const asker = await signUp();
    const option = (id: string, label: string) => ({ id, label, description: '' });
    const questions = [
      {
        ...{ id: 'q', text: 'Which database?', multiple: false, custom: true },
        options: [option('a', 'PostgreSQL'), option('b', 'SQLite')],
      },
    ];
    const asked = await asker.ask({ kind: 'user_action', questions });
    await openRequests();
    await inList('Which database?').click();
    await button('Send the answer').click();
    await sees('Answer each question.');
    await visitor.page.getByLabel('SQLite').check();
    await button('Send the answer').click();
    await sees('Your answer is sent.');
    const choice = { answers: [{ id: 'q', options: ['b'] }] };
    expect((await asker.judge(asked)).decision).toMatchObject({ choice, isSigned: true });
  });

  it('names the characters that deceive, and allows nothing that is too long to read', async () => {
    const asker = await signUp();
    await asker.ask({ tool: { name: 'Bash', input: { command: 'cat ex\u0430mple \u202egnp' } } });
    const long = await asker.ask({ tool: { name: 'Bash', input: { command: 'x'.repeat(5000) } } });
    await openRequests();
    await inList('mple').click();
    await sees('U+0430 Cyrillic');
    await sees('U+202E RIGHT-TO-LEFT OVERRIDE');
    await visitor.page.goto(
      `http://localhost:${server.port}/app/#requests/${long.request.requestId}`,
    );
    await sees('This is too long to be judged here.');
    expect(await button('Allow').count()).toBe(0);
    await button('Deny').click();
    await sees('You denied this.');
    expect((await asker.judge(long)).decision).toMatchObject({ choice: 'deny', isSigned: true });
  });

  it('shows the opened request again after a reload', async () => {
    const asker = await signUp();
    const asked = await asker.ask();
    await openRequests();
    await inList('npm test').click();
    await button('Deny').waitFor();
    await visitor.page.reload();
    await button('Deny').waitFor();
    const address = `http://localhost:${server.port}/app/#requests/${asked.request.requestId}`;
    expect(visitor.page.url()).toBe(address);
  });

  it('offers no allow where the agent takes a denial only, and says whose directory it is', async () => {
    const asker = await signUp();
    const asked = await asker.ask({ denyOnly: true, cwdOf: 'session' });
    await openRequests();
    await inList('npm test').click();
    await sees('This program takes a denial only.');
    await sees('Directory of the session');
    expect(await button('Allow').count()).toBe(0);
    await button('Deny').click();
    await sees('You denied this.');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'deny', isSigned: true });
  });

  /** Opens the request of a tool with this input, and shows its beginning. */
  async function openInput(asker: Asker, input: object): Promise<void> {
    const { request } = await asker.ask({ tool: { name: 'Bash', input } });
    await visitor.page.goto(`http://localhost:${server.port}/app/#requests/${request.requestId}`);
    const [last = ''] = String(Object.values(input).at(-1)).split('\n').slice(-1);
    await visitor.page.locator('.acting', { hasText: last }).first().waitFor();
    await button('Deny').waitFor();
    await visitor.page.evaluate('scrollTo(0, 0)');
  }

  /** Where the window ends, what acts ends, and Allow begins. */
  const places = () =>
    visitor.page.evaluate<{ window: number; acting: number; allow: number; isAtEnd: boolean }>(`({
      window: innerHeight,
      acting: document.querySelector('.asked').getBoundingClientRect().bottom,
      allow: document.querySelector('button.primary').getBoundingClientRect().top,
      isAtEnd: scrollY + innerHeight >= document.documentElement.scrollHeight - 1,
    })`);

  it('offers to allow an ordinary request at once, on a small phone', async () => {
    await visitor.page.setViewportSize({ width: 375, height: 553 });
    const asker = await signUp();
    await openRequests();
    await openInput(asker, { command: 'npm test' });
    const { allow, acting, window } = await places();
    expect(allow).toBeLessThan(window);
    expect(acting).toBeLessThanOrEqual(allow);
  });

  it.each<[string, Record<string, string>]>([
    [
      'of many lines',
      {
        command: ['npm test', ...Array<string>(60).fill('# <b>harmless</b>'), 'rm -rf ~'].join(
          '\n',
        ),
      },
    ],
    [
      'of six short inputs',
      Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, `value ${name}`])),
    ],
    ['with a long name of an input', { ['x'.repeat(3000)]: 'rm -rf ~' }],
  ])('offers to allow a request %s once its end was on the screen', async (_case, input) => {
    await visitor.page.setViewportSize({ width: 375, height: 553 });
    const asker = await signUp();
    await openRequests();
    await openInput(asker, input);
    const first = await places();
    expect(first.allow).toBeGreaterThanOrEqual(first.window);
    for (let place = first; !place.isAtEnd; place = await places()) {
      expect(place.allow >= place.window || place.acting <= place.allow).toBe(true);
      await visitor.page.evaluate('scrollBy(0, 29)');
    }
    const last = await places();
    expect(last.allow).toBeLessThan(last.window);
    expect(last.acting).toBeLessThanOrEqual(last.allow);
    await button('Allow').click();
    await sees('has not yet confirmed');
  });

  it('opens the request of an address that comes while the section appears', async () => {
    const asker = await signUp();
    const { request } = await asker.ask();
    // The first line that waits is of the section's code, the second of the section.
    await visitor.page.evaluate(`(() => {
      const seen = new Set();
      new MutationObserver((_, observer) => {
        const line = document.querySelector('h1')?.textContent === 'Requests'
          && document.querySelector('main p.waiting');
        if (line && seen.add(line).size === 2) {
          observer.disconnect();
          location.hash = '#requests/${request.requestId}';
        }
      }).observe(document.body, { childList: true, subtree: true });
    })()`);
    await openRequests();
    await button('Allow').waitFor();
  });

  it('shows no request that a server swapped or that names another server', async () => {
    const asker = await signUp();
    const [one, other] = [await asker.ask({ cwd: '/one' }), await asker.ask({ cwd: '/other' })];
    const elsewhere = await asker.ask({ server: 'https://elsewhere.example' });
    await visitor.page.route(`**/v1/requests/${one.request.requestId}`, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as object;
      await route.fulfill({ response, json: { ...body, sealed: other.sealed } });
    });
    await openRequests();
    await sees('/other');
    expect(await inList('npm test').count()).toBe(1);
    const address = `http://localhost:${server.port}/app/#requests`;
    await visitor.page.goto(`${address}/${one.request.requestId}`);
    await sees('This request cannot be trusted');
    expect(await button('Allow').count()).toBe(0);
    await visitor.page.goto(`${address}/${elsewhere.request.requestId}`);
    await sees('https://elsewhere.example');
    expect(await button('Allow').count()).toBe(0);
  });

  it('denies without the key, which is no signed answer', async () => {
    const asker = await signUp();
    const asked = await asker.ask();
    await visitor.page.reload();
    await seesAccount(visitor);
    await openRequests();
    await inList('A sealed request').click();
    await sees('only deny it');
    expect(await button('Allow').count()).toBe(0);
    await button('Deny').click();
    await sees('You denied this.');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'deny', isSigned: false });
    await asker.ask({ cwd: '/next' });
    await visitor.page.getByRole('link', { name: 'All requests' }).first().click();
    // Its line would move the button away from the click.
    await inList('A sealed request').first().waitFor();
    await visitor.page.getByLabel('Device key', { exact: true }).fill(secret);
    await button('Open the requests').click();
    await sees('/next');
  });

  it('keeps keys that no script can read, until the sign-out', async () => {
    const asker = await signUp();
    await openRequests();
    await button(KEEP).click();
    await sees('This browser keeps the keys until this session ends.');
    // The public key verifies, and is no secret.
    expect(await storedKeys()).toEqual({ count: 1, readable: ['answerPublicKey'] });
    await visitor.page.reload();
    const asked = await asker.ask();
    await inList('npm test').click();
    await button('Allow').click();
    await sees('has not yet confirmed');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'allow', isSigned: true });
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    await waitFor('the keys to be forgotten', async () => (await storedKeys()).count === 0);
  });

  it('asks for the passkey before it allows, and denies without it', async () => {
    const passkeys = await addAuthenticator(visitor.page);
    const asker = await signUp();
    await openRequests();
    await visitor.page.getByLabel('Confirm each “Allow” with a passkey').waitFor();
    await button(KEEP).click();
    await sees('Kept, with a passkey');
    const { readable } = await storedKeys();
    expect(readable).toEqual(['answerPublicKey']);
    const allowed = await asker.ask({ cwd: '/allowed' });
    await inList('npm test').click();
    await button('Allow').click();
    await sees('has not yet confirmed');
    expect((await asker.judge(allowed)).decision).toMatchObject({
      choice: 'allow',
      isSigned: true,
    });
    await passkeys.refusePerson();
    const refused = await asker.ask({ cwd: '/refused' });
    const address = `http://localhost:${server.port}/app/#requests/${refused.request.requestId}`;
    await visitor.page.goto(address);
    await sees('/refused');
    await button('Allow').click();
    await visitor.page.getByRole('alert').waitFor();
    expect((await asker.judge(refused)).decision).toBeNull();
    await button('Deny').click();
    await sees('You denied this.');
    expect((await asker.judge(refused)).decision).toMatchObject({
      choice: 'deny',
      isSigned: false,
    });
  });

  it('denies nothing for a link that names a request', async () => {
    const asker = await signUp();
    const { request } = await asker.ask();
    const target = new URLSearchParams({
      ...{ topic: 'permission_request', serverUrl: server.url, sessionId: 's' },
      ...{ requestId: request.requestId, 'gatehouse.denied': 'true', action: 'deny' },
    });
    await visitor.page.goto(`http://localhost:${server.port}/app/#${String(target)}`);
    await visitor.page.reload();
    await button('Deny').waitFor();
    expect((await asker.routes.read(request.requestId)).answers).toEqual([]);
  });

  it.each([
    ['keeps nothing in a browser of an iPhone', false, 0],
    ['offers to keep the keys on the Home Screen of an iPhone', true, 1],
  ])('%s', async (_title, standalone, offered) => {
    await visitor.page.addInitScript(
      `Object.defineProperty(navigator, 'standalone', { value: ${standalone} })`,
    );
    await visitor.page.reload();
    await signUp();
    await openRequests();
    await sees(offered === 0 ? 'This browser keeps no keys' : 'You can keep the two keys');
    expect(await button(KEEP).count()).toBe(offered);
  });

  it('keeps nothing where the session ends with the tab', async () => {
    const asker = await signUp(false);
    await asker.ask();
    await openRequests();
    await inList('npm test').waitFor();
    await sees('This browser keeps no keys');
    expect(await button(KEEP).count()).toBe(0);
    expect((await storedKeys()).count).toBe(0);
  });
});
