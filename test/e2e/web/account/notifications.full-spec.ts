import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  AccountContent,
  changeSettings,
  DeviceKey,
  GatehouseClient,
  openSettings,
  type SettingsFields,
} from '../../../../src/packages/client/index.js';
import { readPreferences } from '../../../../src/packages/notify/preferences.js';
import { changePreferences } from '../../../../src/packages/notify/settings-changes.js';
import { verify } from '../../../../src/packages/webhooks/verify.js';
import { WebhookReceiver } from '../../../fakes/webhook-receiver.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { OPTIONAL } from '../../../helpers/account-calls.js';

const DAY_MS = 24 * 60 * 60_000;

interface Owner {
  readonly key: DeviceKey;
  readonly client: GatehouseClient;
  readonly content: AccountContent | null;
  readonly session: { readonly token: string; readonly accountId: string };
}

const server = await startServer({ env: OPTIONAL });
const receiver = await WebhookReceiver.start();
afterAll(() => Promise.all([server.stop(), receiver.close()]));
const visit = useChromium();

inChromium('/app/#notifications', () => {
  let visitor: Visitor;

  async function signUp(mode: 'e2ee' | 'plain' = 'e2ee'): Promise<Owner> {
    const key = await DeviceKey.generate();
    const { token, accountId } = await new GatehouseClient({ serverUrl: server.url }).signUp(key);
    const client = new GatehouseClient({ serverUrl: server.url, token });
    await client.encryption.change(mode);
    const content = mode === 'e2ee' ? new AccountContent(key.bytes, accountId) : null;
    return { key, client, content, session: { token, accountId } };
  }

  async function open({ session }: Owner): Promise<void> {
    visitor = await visit(`${server.url}/livez`);
    await visitor.page.evaluate(
      `sessionStorage.setItem('gatehouse.session', ${JSON.stringify(JSON.stringify(session))})`,
    );
    await visitor.page.goto(`${server.url}/app/#notifications`);
  }

  async function unlock(key: DeviceKey): Promise<void> {
    await visitor.page.getByLabel('Device key', { exact: true }).fill(key.secret);
    await visitor.press('Open the settings');
  }

  async function settingsOf({ client, content }: Owner): Promise<SettingsFields> {
    return openSettings((await client.settings.read()).content, content ?? undefined);
  }

  const sees = (words: string) => visitor.page.getByText(words).first().waitFor();
  const control = (name: string) => visitor.page.getByRole('switch', { name });
  const isOn = (name: string, value: boolean) =>
    waitFor(`"${name}" to be ${value}`, async () => (await control(name).isChecked()) === value);
  const dialog = () => visitor.page.getByRole('dialog');
  const address = () => dialog().getByLabel('Address');

  it('opens the settings only with the key of the account, and changes what every sender reads', async () => {
    const owner = await signUp();
    await open(owner);
    await unlock(await DeviceKey.generate());
    await sees('This is not the device key of this account.');
    expect((await owner.client.settings.read()).version).toBe(0);
    await unlock(owner.key);
    await isOn('Send push notifications', true);
    await control('Send push notifications').click();
    await isOn('Send push notifications', false);
    await control('Questions').click();
    await isOn('Questions', false);
    await control('The last message of the agent').click();
    await isOn('The last message of the agent', true);
    await control('What a request asks for').click();
    await isOn('What a request asks for', false);
    await visitor.page.getByLabel('While the app is open').selectOption('silent');
    await waitFor('the choice to be saved', async () => {
      return readPreferences(await settingsOf(owner)).foregroundBehavior === 'silent';
    });
    expect(await settingsOf(owner)).toEqual({
      notificationsSettingsV1: {
        v: 1,
        pushEnabled: false,
        userActionRequest: false,
        readyIncludeMessageText: true,
        requestPreviews: false,
        foregroundBehavior: 'silent',
      },
    });
    await visitor.page.getByText('What you will see').click();
    const text = await visitor.text();
    expect(text).toContain('All 42 tests pass.');
    expect(text).toContain('Something needs your permission to go on.');
    expect(text).not.toContain('npm test');
  });

  it('turns the encryption off and on again, with everything that is stored', async () => {
    const owner = await signUp();
    const { client, content, key } = owner;
    const [fields, credential] = [{ theme: 'dark' }, { user: 'anna' }];
    const sealed = (c = '') => ({ t: 'encrypted', c }) as const;
    await client.settings.write(sealed(content?.sealSettings(1, fields)), 0);
    const saved = content?.seal('credential:github', credential);
    await client.credentials.put('github', sealed(saved));
    await open(owner);
    const { page } = visitor;
    const change = async (button: string, submit: string, typed: DeviceKey) => {
      await visitor.press(button);
      await dialog().getByLabel('Device key', { exact: true }).fill(typed.secret);
      await visitor.press(submit);
    };
    await page.getByRole('navigation').getByRole('link', { name: 'Security' }).click();
    await change('Turn off the encryption…', 'Turn it off', await DeviceKey.generate());
    await sees('This is not the device key of this account.');
    await visitor.press('Cancel');
    await change('Turn off the encryption…', 'Turn it off', key);
    await sees('The server can now read your content.');
    expect((await client.settings.read()).content).toEqual({ t: 'plain', v: fields });
    expect((await client.credentials.find('github')).content).toEqual({
      t: 'plain',
      v: credential,
    });
    await change('Turn on the encryption…', 'Turn it on', key);
    await sees('Your content is now end-to-end encrypted.');
    expect(await settingsOf(owner)).toEqual(fields);
    const { content: stored } = await client.credentials.find('github');
    expect(stored.t === 'encrypted' && content?.open('credential:github', stored.c)).toEqual(
      credential,
    );
  });

  /** Answers as a server does that changes what it returns. */
  async function answer(path: string, change: (json: Record<string, unknown>) => object) {
    await visitor.page.route(`**${path}`, async (route) => {
      const isRead = route.request().method() === 'GET';
      const response = await route.fetch();
      const json = (await response.json()) as Record<string, unknown>;
      await route.fulfill({ response, json: isRead ? change(json) : json });
    });
  }

  it('uses no settings that the server made plain, until the person says that they chose that', async () => {
    const owner = await signUp();
    await open(owner);
    await unlock(owner.key);
    await control('Questions').click();
    await isOn('Questions', false);
    const made = { notificationChannelsV1: [{ id: 'evil', url: 'https://evil.example/' }] };
    await answer('/v2/account/settings', (json) => ({ ...json, content: { t: 'plain', v: made } }));
    await answer('/v1/account/profile', (json) => ({ ...json, encryptionMode: 'plain' }));
    await visitor.page.reload();
    await sees('This browser does not use these settings');
    await sees('The server says that it can read the settings of this account.');
    expect(await visitor.text()).not.toContain('evil.example');
    await visitor.page.getByRole('link', { name: 'Security' }).click();
    await sees('The server says otherwise.');
    expect(await visitor.text()).toContain('End-to-end encrypted');
    await visitor.page.getByRole('link', { name: 'Notifications' }).click();
    await visitor.press('I chose this');
    await sees('evil.example');
  });

  it('uses older settings only after the person saw them, and writes a higher revision', async () => {
    const owner = await signUp();
    const { client, content } = owner;
    const hook = { id: 'old', url: 'https://old.example/' };
    const c = content?.sealSettings(1, { notificationChannelsV1: [hook] }) ?? '';
    await client.settings.write({ t: 'encrypted', c }, 0);
    await open(owner);
    await unlock(owner.key);
    await control('Questions').click();
    await isOn('Questions', false);
    await visitor.page.reload();
    await answer('/v2/account/settings', (json) => ({ ...json, content: { t: 'encrypted', c } }));
    await unlock(owner.key);
    await sees('The server has older settings than this browser has seen.');
    await Promise.all(['old.example', 'No device is confirmed'].map((text) => sees(text)));
    expect((await client.settings.read()).version).toBe(2);
    await visitor.page.unroute('**/v2/account/settings');
    const seen = (await client.settings.read()).content;
    await client.settings.write({ t: 'encrypted', c }, 2);
    await visitor.press('Use these settings');
    await isOn('Questions', true);
    const { content: written } = await client.settings.read();
    expect(seen).toMatchObject({ c: expect.stringMatching(/^2\.2\./) as unknown });
    expect(written).toMatchObject({ c: expect.stringMatching(/^2\.3\./) as unknown });
  });

  it('asks once whether the server may read the settings of an account whose key is in the tab', async () => {
    const owner = await signUp('plain');
    await open(owner);
    await isOn('Ready', true);
    await visitor.page.getByRole('link', { name: 'Security' }).click();
    await visitor.page.getByLabel('Device key', { exact: true }).fill(owner.key.secret);
    await visitor.press('Check the key');
    await sees('This is the key of your account.');
    const { page } = visitor;
    await page.getByRole('link', { name: 'Notifications' }).click();
    await visitor.press('I chose this');
    await isOn('Ready', true);
    await page.reload();
    await isOn('Ready', true);
  });

  it('keeps the settings open while other sections are visited, and locks them with the page', async () => {
    const owner = await signUp();
    await open(owner);
    await unlock(owner.key);
    await isOn('Ready', true);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByRole('heading', { name: 'Security', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Notifications' }).click();
    await isOn('Ready', true);
    const stored = await page.evaluate('JSON.stringify([sessionStorage, localStorage])');
    expect(String(stored)).not.toContain(owner.key.secret);
    await page.reload();
    await sees('Your settings are encrypted');
  });

  it('shows a change of another client, and writes on top of it', async () => {
    const owner = await signUp('plain');
    await open(owner);
    await isOn('Ready', true);
    const elsewhere = (changes: Record<string, boolean>) =>
      changeSettings(owner.client, null, (fields) => changePreferences(fields, changes));
    await elsewhere({ ready: false });
    await isOn('Ready', false);
    let writes = 0;
    await visitor.page.route('**/v2/account/settings', async (route) => {
      if (route.request().method() === 'POST' && (writes += 1) === 1) {
        // The change is made between the read and the write of the page.
        await elsewhere({ permissionRequest: false });
      }
      await route.continue();
    });
    await control('Questions').click();
    await isOn('Questions', false);
    await isOn('Permission requests', false);
    expect(writes).toBe(2);
    expect(await settingsOf(owner)).toMatchObject({
      notificationsSettingsV1: { ready: false, permissionRequest: false, userActionRequest: false },
    });
  });

  it('adds, changes, switches off and removes webhooks', async () => {
    const owner = await signUp();
    await open(owner);
    await unlock(owner.key);
    await sees('No webhooks yet');
    await visitor.press('Add a webhook');
    await dialog().getByLabel('Address').fill('ftp://hooks.example/a');
    await dialog().getByRole('button', { name: 'Add a webhook' }).click();
    await sees('This address cannot be used.');
    const described = (await address().getAttribute('aria-describedby'))?.split(' ')[0];
    const reason = visitor.page.locator(`[id="${described}"]`);
    expect(await reason.innerText()).toContain('This address cannot be used.');
    await dialog().locator('input:focus[type=url][aria-invalid=true]').waitFor();
    await address().fill('https://hooks.example/a');
    await dialog().getByLabel('Sign the deliveries').uncheck();
    await dialog().getByRole('button', { name: 'Add a webhook' }).click();
    await sees('The webhook is added.');
    const first = readPreferences(await settingsOf(owner));
    expect(first).toMatchObject({
      problems: [],
      channels: [{ url: 'https://hooks.example/a', preset: 'generic', enabled: true, secrets: [] }],
    });
    await visitor.press('Change: hooks.example/a');
    await dialog().getByLabel('Address').fill('https://discord.example/hooks/secret');
    await dialog().getByLabel('Kind').selectOption('discord');
    await dialog().getByLabel('Ready').uncheck();
    await dialog().getByLabel('What a request asks for').uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await sees('The webhook is changed.');
    // The rest of a chat's address authorizes its sender.
    await sees('discord.example');
    expect(await visitor.text()).not.toContain('hooks/secret');
    await sees('Permission requests, Questions');
    await control('Send to this address').click();
    await isOn('Send to this address', false);
    expect(readPreferences(await settingsOf(owner)).channels).toEqual([
      {
        id: first.channels[0]?.id,
        url: 'https://discord.example/hooks/secret',
        preset: 'discord',
        enabled: false,
        secrets: [],
        topics: { ready: false, permission_request: true, user_action_request: true },
        requestPreviews: false,
        readyIncludeMessageText: false,
      },
    ]);
    await visitor.press('Remove: discord.example');
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await sees('No webhooks yet');
    expect(readPreferences(await settingsOf(owner)).channels).toEqual([]);
  });

  it('creates a signing secret, shows it once and keeps the previous one for a day', async () => {
    const owner = await signUp();
    await open(owner);
    await unlock(owner.key);
    const readSecret = async () => {
      const output = visitor.page.locator('output:visible');
      await output.waitFor();
      return output.innerText();
    };
    await visitor.press('Add a webhook');
    await dialog().getByLabel('Address').fill('https://hooks.example/a');
    await dialog().getByRole('button', { name: 'Add a webhook' }).click();
    const first = await readSecret();
    expect(first).toMatch(/^whsec_/);
    await visitor.press('I saved it');
    await visitor.press('Signing: hooks.example/a');
    await dialog().getByRole('button', { name: 'Replace the secret' }).click();
    const second = await readSecret();
    const now = Date.now();
    const fields = await settingsOf(owner);
    expect(readPreferences(fields, now + DAY_MS / 2).channels[0]?.secrets).toEqual([second, first]);
    expect(readPreferences(fields, now + DAY_MS + 1).channels[0]?.secrets).toEqual([second]);
    await visitor.page.reload();
    await unlock(owner.key);
    await visitor.press('Preview and test: hooks.example/a');
    await sees('This is sent:');
    const html = await visitor.page.content();
    expect(html).not.toContain(first.slice('whsec_'.length));
    expect(html).not.toContain(second.slice('whsec_'.length));
    await dialog().getByRole('button', { name: 'Close' }).click();
    await visitor.press('Signing: hooks.example/a');
    await dialog().getByRole('button', { name: 'Stop signing' }).click();
    await waitFor('unsigned deliveries', async () => {
      return readPreferences(await settingsOf(owner)).channels[0]?.secrets.length === 0;
    });
  });

  it('previews a delivery, and sends it with the command that is shown', async () => {
    const owner = await signUp('plain');
    const secrets = ["it's a secret", 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz'];
    const notificationChannelsV1 = secrets.map((signingSecret, index) => {
      return { id: `c$(${index})`, url: `${receiver.url}/${index}`, signingSecret };
    });
    await changeSettings(owner.client, null, () => ({ notificationChannelsV1 }));
    await open(owner);
    for (const [index, secret] of secrets.entries()) {
      await visitor.press(new RegExp(`^Preview and test: .*/${index}$`));
      await dialog().getByLabel('Event', { exact: true }).selectOption('Questions');
      await dialog().getByText(`channels test 'c$(${index})' --topic user`).waitFor();
      const generic = await dialog().locator('pre').first().innerText();
      expect(JSON.parse(generic)).toMatchObject({ request: { toolDetails: null } });
      await sees('A computer sends it only if it is set up to');
      await dialog().getByLabel('From a sender that shows what a request asks for').check();
      await dialog().getByText('CLIENT_PUBLIC_REQUEST_PREVIEWS=1 gatehouse channels').waitFor();
      const listings = await dialog().locator('pre').allInnerTexts();
      const [preview = '', , script = ''] = listings;
      expect(JSON.parse(preview)).toMatchObject({
        channelId: `c$(${index})`,
        topic: 'user_action_request',
        request: {
          ...{ kind: 'user_action', toolName: 'AskUserQuestion' },
          toolDetails: expect.stringContaining('Which branch is released?'),
        },
      });
      const withSecret = script.replace("SECRET='…'", `SECRET='${secret.replace("'", "'\\''")}'`);
      const { stdout } = await promisify(execFile)('sh', ['-c', withSecret]);
      expect(stdout).toMatch(/^HTTP\/1\.1 204/);
      const [delivery] = receiver.received.filter(({ path }) => path === `/hook/${index}`);
      const verified = verify(delivery?.headers ?? {}, delivery?.rawBody ?? '', secret);
      expect(verified).toMatchObject({
        signature: 'standard',
        payload: { topic: 'user_action_request' },
      });
      await dialog().getByRole('button', { name: 'Close' }).click();
    }
  });

  it('shows a webhook that no sender can use, and removes it', async () => {
    const owner = await signUp('plain');
    const notificationChannelsV1 = [{ id: 'broken', url: 7 }];
    await changeSettings(owner.client, null, () => ({ notificationChannelsV1 }));
    await open(owner);
    await sees('nothing is sent to it');
    await visitor.press('Remove: broken');
    await sees('No webhooks yet');
    expect(await settingsOf(owner)).toEqual({ notificationChannelsV1: [] });
  });
});
