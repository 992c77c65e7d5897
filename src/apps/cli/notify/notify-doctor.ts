import { setTimeout as sleep } from 'node:timers/promises';
import { PRIVATE_HOSTS_VARIABLE } from '../../../packages/notify/environment.js';
import { isPushToken, maskedToken } from '../../../packages/notify/push/push-message.js';
import type { SavedToken } from '../../../packages/notify/delivery/plan.js';
import {
  readPreferences,
  type Preferences,
  type WebhookChannel,
} from '../../../packages/notify/preferences.js';
import type { ReceiptResult, SentTicket } from '../../../packages/notify/push/push-results.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import type { Spool } from '../spool/spool.js';
import { previewsInEffect } from './build-previews.js';
import { describeDamaged } from './deliveries.js';
import { withSenderSession, type SenderOptions } from './sender-session.js';
import { isUnreadable, readSettings, type SettingsDocument } from './settings-document.js';
import { deliverTest, type TestLine } from './test-delivery.js';

type Context = CliContext<SenderOptions & { readonly wait?: boolean }>;

/** One hop of a notification. `off` = it works as configured and delivers nothing. */
interface Check {
  readonly hop: string;
  readonly state: 'ok' | 'off' | 'broken';
  readonly words: string;
  readonly advice?: string;
}

const RECEIPT_EVERY_MS = 1_000;
const RECEIPT_WAIT_MS = 3_000;
const RECEIPT_LONGEST_MS = 16 * 60_000;

export async function doctor(context: Context): Promise<number> {
  const current = await requireSession(context);
  const { session, client } = current;
  const { id } = await client.profile();
  const server = check('server', 'ok', `${session.server} answers, signed in as ${id}`);
  const checks = [server, ...(await checksBehind(context, current))];
  const broken = checks.filter(({ state }) => state === 'broken').map(({ hop }) => hop);
  const isSilent = !checks.some(({ hop, state }) => /^(push|webhook) /.test(hop) && state === 'ok');
  const healthy = broken.length === 0 && !isSilent;
  const silence = 'Nothing fails, but no notification is sent: no push and no webhook is on.';
  const verdict = broken.length > 0 ? `What fails: ${broken.join(', ')}.` : silence;
  const text = [...checks.map(describe), healthy ? 'Everything works.' : verdict].join('\n');
  context.output.result({ checks, healthy }, text);
  return healthy ? EXIT.ok : EXIT.refused;
}

/** Without readable settings the later hops cannot be tested. */
async function checksBehind(context: Context, current: CurrentSession): Promise<readonly Check[]> {
  let document: SettingsDocument;
  try {
    document = await readSettings(context, current);
  } catch (error) {
    if (!isUnreadable(error)) {
      throw error;
    }
    return [check('settings', 'broken', error.message, error.facts.hint)];
  }
  const preferences = readPreferences(document.fields);
  const tokens = await current.client.pushTokens();
  const lines = await testAll(context, preferences, tokens);
  return [
    ...settingsChecks(document, preferences),
    previewsCheck(preferences),
    ...tokenChecks(tokens, preferences),
    ...lines.map(targetCheck),
    ...(await receiptChecks(context, lines, tokens)),
    ...preferences.channels.filter(({ enabled }) => !enabled).map(disabledCheck),
    ...(await spoolChecks(context, current)),
  ];
}

function check(hop: string, state: Check['state'], words: string, advice?: string): Check {
  return { hop, state, words, ...(advice !== undefined && { advice }) };
}

function settingsChecks(
  { file, isSaved, stored }: SettingsDocument,
  { problems }: Preferences,
): Check[] {
  const how = stored?.content?.t === 'encrypted' ? ', and opened with the device key' : '';
  const source = `read from ${file ?? 'the server'}${how}`;
  const advice = 'Save it again: gatehouse preferences set, or gatehouse channels';
  return [
    check('settings', 'ok', isSaved ? source : 'nothing saved yet: the defaults apply'),
    ...problems.map(({ path, message }) => check(`settings ${path}`, 'broken', message, advice)),
  ];
}

function previewsCheck(preferences: Preferences): Check {
  const { isOn, because } = previewsInEffect(preferences.push);
  return isOn
    ? check('previews', 'ok', `notifications show what a request is about: ${because}`)
    : check('previews', 'off', `notifications do not show what a request is about: ${because}`);
}

function tokenChecks(tokens: readonly SavedToken[], { push }: Preferences): Check[] {
  if (!push.enabled) {
    const advice = 'Switch it on: gatehouse preferences set pushEnabled=on';
    return [check('tokens', 'off', 'push is switched off', advice)];
  }
  if (tokens.length === 0) {
    const advice = 'Open the app, allow notifications, and let it use exactly this server address.';
    return [check('tokens', 'off', 'no app has saved a push token at this server', advice)];
  }
  const malformed = tokens.filter(({ token }) => !isPushToken(token));
  const advice = 'Remove it, and let the app register again: gatehouse tokens remove TOKEN';
  return [
    check('tokens', 'ok', `${tokens.length} saved`),
    ...malformed.map(({ token }) =>
      check(`token ${maskedToken(token)}`, 'broken', 'is not a push token', advice),
    ),
  ];
}

function testAll(
  context: Context,
  { push, webPushKey, channels }: Preferences,
  tokens: readonly SavedToken[],
): Promise<readonly TestLine[]> {
  return deliverTest(context, {
    webPushKey,
    channels: channels.filter(({ enabled }) => enabled),
    tokens: push.enabled ? tokens.filter(({ token }) => isPushToken(token)) : [],
  });
}

function targetCheck({ target, state, code, detail = '' }: TestLine): Check {
  const hop = `${target.kind} ${target.id ?? ''}`;
  if (state === 'sent') {
    const isPush = target.kind === 'push';
    return check(hop, 'ok', isPush ? 'accepted by the push service' : 'answered with success');
  }
  return check(hop, 'broken', detail, adviceFor(code ?? ''));
}

function disabledCheck({ id }: WebhookChannel): Check {
  const advice = `Enable it: gatehouse channels enable ${id}`;
  return check(`webhook ${id}`, 'off', 'the channel is disabled', advice);
}

async function receiptChecks(
  context: Context,
  lines: readonly TestLine[],
  tokens: readonly SavedToken[],
): Promise<Check[]> {
  const sentAt = Date.now();
  const tickets = lines.flatMap(({ target, receiptId }): SentTicket[] => {
    const token = tokens.find((one) => maskedToken(one.token) === target.id)?.token;
    return receiptId === undefined || token === undefined ? [] : [{ receiptId, token, sentAt }];
  });
  if (tickets.length === 0) {
    return [];
  }
  const waitMs = context.options.wait === true ? RECEIPT_LONGEST_MS : RECEIPT_WAIT_MS;
  const results = await pollReceipts(context, tickets, sentAt + waitMs);
  return tickets.map(({ token }, index) => receiptCheck(token, results[index]));
}

async function pollReceipts(
  context: Context,
  tickets: readonly SentTicket[],
  until: number,
): Promise<readonly ReceiptResult[]> {
  return withSenderSession(context, async ({ senders }) => {
    const expo = await senders.expo();
    for (;;) {
      const results = await expo.receipts(tickets);
      if (results.every(({ state }) => state !== 'pending') || Date.now() >= until) {
        return results;
      }
      await sleep(RECEIPT_EVERY_MS);
    }
  });
}

function receiptCheck(token: string, result: ReceiptResult | undefined): Check {
  const hop = `receipt ${maskedToken(token)}`;
  if (result?.state === 'failed') {
    return check(hop, 'broken', result.detail, adviceFor(result.code));
  }
  return result?.state === 'delivered'
    ? check(hop, 'ok', "accepted by the phone's notification service")
    : check(hop, 'off', 'not known yet, it can take 15 minutes: gatehouse notify doctor --wait');
}

async function spoolChecks(context: Context, { session }: CurrentSession): Promise<Check[]> {
  const [entries, damaged] = await withSenderSession(context, ({ spool }) =>
    Promise.all([spool.entries(), damagedChecks(spool)]),
  );
  const waiting = entries.filter(
    ({ entry }) => entry.kind === 'delivery' && entry.account.server === session.server,
  );
  const last = waiting.find(({ entry }) => entry.lastError !== null)?.entry.lastError;
  const [count, because] =
    waiting.length === 1
      ? ['1 delivery waits', ' because: ']
      : [`${waiting.length} deliveries wait`, '; one because: '];
  const words = last ? `${count}${because}${last.detail}` : count;
  const advice = 'Send them now: gatehouse notify flush';
  return [check('spool', 'ok', words, waiting.length > 0 ? advice : undefined), ...damaged];
}

async function damagedChecks({ damaged }: Spool): Promise<Check[]> {
  const { length } = await damaged.names();
  const words = describeDamaged(length, damaged.directory);
  const advice = 'Check the disk of this computer, then delete what is in that folder.';
  return length === 0 ? [] : [check('spool damaged', 'broken', words, advice)];
}

function describe({ hop, state, words, advice }: Check): string {
  const mark = { ok: 'ok    ', off: 'off   ', broken: 'BROKEN' }[state];
  return `${mark}  ${hop}: ${words}${advice === undefined ? '' : `\n        ${advice}`}`;
}

const ADDRESS = 'Start the receiver, or correct the address of the channel.';
const SIGNATURE =
  "It may refuse the signature: compare its secret with the channel's, and let it read the raw body.";

/** Advice by the code of the failure. */
const ADVICE: Readonly<Record<string, string>> = {
  'connection-refused': ADDRESS,
  'host-not-found': ADDRESS,
  'http-404': ADDRESS,
  'http-410': 'Remove the channel: gatehouse channels remove ID',
  'http-400': SIGNATURE,
  'http-401': SIGNATURE,
  'http-403': SIGNATURE,
  'redirect-refused': 'Remove the channel and add it with the address that it redirects to.',
  'destination-refused': `If this computer may connect to it, name its host in ${PRIVATE_HOSTS_VARIABLE}.`,
  'certificate-refused':
    'Give the receiver a certificate of a known authority, or set NODE_EXTRA_CA_CERTS here.',
  timeout: 'The receiver must answer within 10 seconds: answer first, work afterwards.',
  'device-not-registered':
    'Open the app on the device and allow notifications: it registers a new token. This one is removed at the next notification.',
  'push-unauthorized': 'Set EXPO_ACCESS_TOKEN to an access token of the project of the app.',
  'push-unreachable': 'Check that this computer reaches the push service, and EXPO_BASE_URL.',
  'no-web-push-key': 'Open the account page in that browser, and switch notifications on again.',
  'web-push-refused': 'Open the account page in that browser, and switch notifications on again.',
  'web-push-signature':
    'Set the clock of this computer, and use the server at a public https address. Then register the browser again.',
  'invalid-credentials': 'Ask the developer of the app to upload its push credentials again.',
  'mismatch-sender-id':
    'Ask the developer of the app: its push credentials belong to another project.',
};

function adviceFor(code: string): string | undefined {
  return Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
}
