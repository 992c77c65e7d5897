import {
  openSettings,
  type SettingsContent,
} from '../../../src/packages/client/settings/account-settings.js';
import { AccountContent } from '../../../src/packages/client/crypto/account-content.js';
import { DeviceKey } from '../../../src/packages/client/crypto/device-key.js';
import { readEvent } from '../../../src/packages/notify/content/read-event.js';
import type { Outcome } from '../../../src/packages/notify/delivery/delivery.js';
import { notify } from '../../../src/packages/notify/notify.js';
import type { WebPushSender } from '../../../src/packages/notify/push/web-push.sender.js';
import type { Visitor } from '../../fixtures/programs/browser-fixture.js';
import type { Server } from '../../fixtures/programs/server-fixture.js';
import { Asker } from '../../fixtures/asker-fixture.js';
import { call } from '../../helpers/client.js';
import { createAccount, open, sees } from './account-page-acts.js';

/** Turns notifications on, with the key where the page asks for it. */
export async function registerIn(visitor: Visitor, key: DeviceKey): Promise<void> {
  const { page } = visitor;
  await open(visitor, 'Notifications');
  const field = page.getByLabel(/^(Name of this browser|Device key)$/);
  if ((await field.getAttribute('name')) === 'key') {
    await unlockSettings(visitor, key.secret);
  }
  await page.getByLabel('Name of this browser').fill('My browser');
  await visitor.press('Turn on in this browser');
}

/** Signs up and stays signed in, with notifications in this browser. @returns what asks this account */
export async function signUpToStay(visitor: Visitor, at: Server) {
  await visitor.page.goto(`${at.url}/app`);
  await visitor.page.getByLabel('Stay signed in on this device').check();
  const key = await DeviceKey.fromSecret(await createAccount(visitor));
  await registerIn(visitor, key);
  await sees(visitor, 'This browser now shows your notifications.');
  const { token, accountId } = await sessionOf(visitor);
  return { key, asker: new Asker(at, { token, account: accountId, secret: key.bytes }) };
}

export async function unlockSettings(visitor: Visitor, secret: string): Promise<void> {
  await visitor.page.getByLabel('Device key', { exact: true }).fill(secret);
  await visitor.press('Open the settings');
}

/** The session of this tab, or of the whole browser. */
export async function sessionOf({ page }: Visitor): Promise<{ token: string; accountId: string }> {
  const kept = await page.evaluate(
    "sessionStorage.getItem('gatehouse.session') ?? localStorage.getItem('gatehouse.session')",
  );
  return JSON.parse(String(kept)) as { token: string; accountId: string };
}

export async function pushTokensOf(visitor: Visitor, at: Server) {
  const { token } = await sessionOf(visitor);
  const answer = await call<{
    tokens: { token: string; name: string; platform: string }[];
  }>(at, 'GET', '/v1/push-tokens', { token });
  return answer.body.tokens.map((one) => ({ ...one, clientServerUrl: at.url }));
}

export async function openSettingsOf(visitor: Visitor, key: DeviceKey, at: Server) {
  const { token, accountId } = await sessionOf(visitor);
  const { body } = await call(at, 'GET', '/v2/account/settings', { token });
  const content = new AccountContent(key.bytes, accountId);
  return openSettings(body['content'] as SettingsContent, content);
}

interface Sending {
  readonly fields: Record<string, unknown>;
  readonly at: Server;
  readonly preferences: object;
}

/** Sends as any sender of the account does: reads settings and tokens, encrypts and posts. */
export async function sendTo(
  visitor: Visitor,
  webPush: WebPushSender,
  key: DeviceKey,
  { fields, at, preferences }: Sending,
): Promise<readonly Outcome[]> {
  const event = readEvent(
    {
      topic: 'permission_request',
      serverUrl: at.url,
      session: { sessionId: 'ses&1', title: 'Fix the build' },
      request: { requestId: 'req/1', toolName: 'Bash', details: { command: 'npm test' } },
      ...fields,
    },
    Date.now(),
  );
  const settings = { ...(await openSettingsOf(visitor, key, at)), ...preferences };
  const unused = { attempt: () => Promise.reject(new Error('not used here')) };
  const account = { settings, tokens: await pushTokensOf(visitor, at) };
  return (await notify(event, account, { push: unused, webhooks: unused, webPush })).outcomes;
}
