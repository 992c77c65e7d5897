import { inChromium, useChromium } from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { askToDelete, createAccount, open, tokenOf } from '../account-page-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('a button of the account page', () => {
  it('is not pressed by the second click of a double click that removed another one', async () => {
    const visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    await createAccount(visitor);
    const token = await tokenOf(visitor);
    for (const name of ['one', 'two', 'three', 'four']) {
      const body = { token: `ExponentPushToken[${name}]`, name };
      expect((await call(server, 'POST', '/v1/push-tokens', { token, body })).status).toBe(200);
    }
    await open(visitor, 'Devices and sessions');
    const remove = page.getByRole('button', { name: /^Remove: / });
    const clickFirst = async (clickCount: number): Promise<void> => {
      await remove.first().hover();
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    const enabled = remove.and(page.locator(':enabled'));
    const left = (count: number): Promise<unknown> =>
      waitFor(`${count} devices`, async () => {
        return (await remove.count()) === count && (await enabled.count()) === count;
      });
    await left(4);
    await clickFirst(1);
    await left(3);
    const first = await remove.first().getAttribute('aria-label');
    await clickFirst(2);
    await remove.last().click();
    await left(2);
    expect(await remove.first().getAttribute('aria-label')).toBe(first);
  });
});

inChromium('the list of devices on the account page', () => {
  it('keeps its order when an app saves its push token again', async () => {
    const visitor = await visit(`${server.url}/app`);
    await createAccount(visitor);
    const token = await tokenOf(visitor);
    const save = async (id: string, name: string): Promise<void> => {
      const body = { token: `ExponentPushToken[${id}]`, name };
      expect((await call(server, 'POST', '/v1/push-tokens', { token, body })).status).toBe(200);
    };
    await save('a', 'first');
    await save('b', 'second');
    await open(visitor, 'Devices and sessions');
    const remove = visitor.page.getByRole('button', { name: /^Remove: / });
    await visitor.page.getByRole('button', { name: 'Remove: second' }).waitFor();
    await save('a', 'renamed');
    await visitor.page.getByRole('button', { name: 'Remove: renamed' }).waitFor();
    expect(await remove.first().getAttribute('aria-label')).toBe('Remove: second');
  });
});

inChromium('a dialog of the account page', () => {
  it('closes by a press outside of it, and not by one on its padding', async () => {
    const visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    await createAccount(visitor);
    await open(visitor, 'Security');
    await askToDelete(visitor);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('dele');
    await dialog.click({ position: { x: 4, y: 4 } });
    await dialog.getByRole('textbox').press('End');
    await page.keyboard.type('te');
    expect(await dialog.getByRole('textbox').inputValue()).toBe('delete');
    await page.mouse.click(4, 4);
    await dialog.waitFor({ state: 'detached' });
  });
});
