import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import { enterKey, sees, seesAccount } from '../web/account-page-acts.js';

const server = await startServer();
const asker = await Notifying.start(server);
afterAll(async () => {
  await asker.stop();
  await server.stop();
});

const visit = useChromium();

inChromium('gatehouse ask, answered in a browser', () => {
  it('prints allow once a person allows it on the account page', async () => {
    await asker.webhook('phone');
    const { stdout: key } = await asker.user.run(['key', 'show']);
    const visitor = await visit(`${server.url}/app`);
    await enterKey(visitor, key.trim());
    await seesAccount(visitor);
    const asked = asker.start('ask', 'permission', '--tool', 'Bash', '--command', 'npm test');
    await visitor.page.getByRole('link', { name: 'A request waits for you' }).click();
    await sees(visitor, 'npm test');
    await visitor.press('Allow');
    const exited = await asked.exited;
    expect(exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    expect(exited.stderr).toMatch(
      /^Waiting 600 s for an answer: .+\nCtrl-C withdraws the request\.\n$/,
    );
    await sees(visitor, 'You allowed this, and the computer received your answer.');
  });
});
