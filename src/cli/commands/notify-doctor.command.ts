import { setTimeout as sleep } from 'node:timers/promises';
import { isPushToken, maskedToken } from '../../notify/push-token.js';
import type { SavedToken } from '../../notify/plan.js';
import { readPreferences, type Preferences } from '../../notify/preferences.js';
import type { ReceiptResult, SentTicket } from '../../notify/push-receipts.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { adviceFor } from './notify-advice.js';
import { notifyOptions } from './notify-options.js';
import { readSettings, type SettingsDocument } from './notify-settings.js';
import { deliverTest, type TestLine } from './notify-test-delivery.js';
import { NotifyWork } from './notify-work.js';

/** One hop on the way of a notification. `off` = it works as it was set, and nothing arrives. */
interface Check {
  readonly hop: string;
  readonly state: 'ok' | 'off' | 'broken';
  readonly words: string;
  readonly advice?: string;
}

const RECEIPT_EVERY_MS = 1_000;
const RECEIPT_WAIT_MS = 3_000;
const RECEIPT_LONGEST_MS = 16 * 60_000;

/** Walks every hop with a real test notification, and says in words which of them fails. */
export async function doctor(context: CliContext): Promise<number> {
  const current = await requireSession(context);
  const { session, client } = current;
  const { id, encryptionMode } = await client.profile();
  const checks: Check[] = [
    { hop: 'server', state: 'ok', words: `${session.server} answers, logged in as ${id}` },
  ];
  const document = await readSettings(context, current);
  const preferences = readPreferences(document.fields);
  checks.push(...settingsChecks(document, preferences, encryptionMode === 'e2ee'));
  const tokens = await client.pushTokens();
  checks.push(...tokenChecks(tokens, preferences));
  const lines = await testAll(context, preferences, tokens);
  checks.push(...lines.map(checkOf));
  checks.push(...(await receiptChecks(context, lines, tokens)));
  checks.push(...channelChecks(preferences), ...(await spoolChecks(context, current)));
  const isBroken = checks.some(({ state }) => state === 'broken');
  const isSilent = !checks.some(({ hop, state }) => /^(push|webhook) /.test(hop) && state === 'ok');
  const verdict = isBroken || isSilent ? verdictOf(checks, isSilent) : 'Everything works.';
  const words = [...checks.map(wordsOf), verdict].join('\n');
  context.output.result({ checks, healthy: !isBroken && !isSilent }, words);
  return isBroken || isSilent ? EXIT.refused : EXIT.ok;
}

function settingsChecks(
  { file, isSaved, isEncrypted }: SettingsDocument,
  { problems }: Preferences,
  isE2ee: boolean,
): Check[] {
  const hop = 'settings';
  if (isEncrypted && !isSaved) {
    const words = `end-to-end encrypted, and ${file} does not exist: no webhook is known here`;
    const advice = 'Add the webhooks on this computer: gatehouse channels add URL';
    return [{ hop, state: 'off', words, advice }];
  }
  const kept = file === null ? 'read from the server' : `read from ${file}`;
  const note = isE2ee && file !== null ? ' (the account is end-to-end encrypted)' : '';
  const broken = problems.map(({ path, message }): Check => {
    const advice = 'Save it anew: gatehouse preferences set, or gatehouse channels';
    return { hop: `settings ${path}`, state: 'broken', words: message, advice };
  });
  const words = isSaved ? `${kept}${note}` : 'nothing saved yet: the defaults hold';
  return [{ hop, state: 'ok', words }, ...broken];
}

function tokenChecks(tokens: readonly SavedToken[], { push }: Preferences): Check[] {
  if (!push.enabled) {
    const advice = 'Switch it on: gatehouse preferences set pushEnabled=on';
    return [{ hop: 'tokens', state: 'off', words: 'push is switched off', advice }];
  }
  if (tokens.length === 0) {
    const words = 'no app has saved a push token at this server';
    const advice = 'Open the app, allow notifications, and let it use this very server address.';
    return [{ hop: 'tokens', state: 'off', words, advice }];
  }
  const malformed = tokens.filter(({ token }) => !isPushToken(token));
  return [
    { hop: 'tokens', state: 'ok', words: `${tokens.length} saved` },
    ...malformed.map(({ token }): Check => {
      const words = 'is no push token';
      const advice = 'Remove it, and let the app register again: gatehouse tokens remove TOKEN';
      return { hop: `token ${maskedToken(token)}`, state: 'broken', words, advice };
    }),
  ];
}

function testAll(
  context: CliContext,
  { push, channels }: Preferences,
  tokens: readonly SavedToken[],
): Promise<readonly TestLine[]> {
  return deliverTest(context, {
    channels: channels.filter(({ enabled }) => enabled),
    tokens: push.enabled ? tokens.filter(({ token }) => isPushToken(token)) : [],
  });
}

/** A target that is not there is no hop: the checks before have said so. */
function checkOf({ target, state, code, detail = '' }: TestLine): Check {
  const hop = `${target.kind} ${target.id ?? ''}`;
  if (state === 'sent') {
    const took = target.kind === 'push' ? 'the push service took it' : 'it answered that it has it';
    return { hop, state: 'ok', words: took };
  }
  const advice = adviceFor(code ?? '');
  return { hop, state: 'broken', words: detail, ...(advice !== null && { advice }) };
}

function channelChecks({ channels }: Preferences): Check[] {
  const off = channels.filter(({ enabled }) => !enabled);
  return off.map(({ id }) => {
    const advice = `Enable it: gatehouse channels enable ${id}`;
    return { hop: `webhook ${id}`, state: 'off', words: 'the channel is disabled', advice };
  });
}

async function receiptChecks(
  context: CliContext,
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
  const isPatient = notifyOptions(context).wait === true;
  const until = sentAt + (isPatient ? RECEIPT_LONGEST_MS : RECEIPT_WAIT_MS);
  const results = await askUntilKnown(context, tickets, until);
  return tickets.map(({ token }, index) => receiptCheck(token, results[index]));
}

async function askUntilKnown(
  context: CliContext,
  tickets: readonly SentTicket[],
  until: number,
): Promise<readonly ReceiptResult[]> {
  const work = new NotifyWork(context);
  try {
    const sender = await work.senders.expo();
    for (;;) {
      const results = await sender.receipts(tickets);
      if (results.every(({ state }) => state !== 'pending') || Date.now() >= until) {
        return results;
      }
      await sleep(RECEIPT_EVERY_MS);
    }
  } finally {
    await work.senders.close();
  }
}

function receiptCheck(token: string, result: ReceiptResult | undefined): Check {
  const hop = `receipt ${maskedToken(token)}`;
  if (result?.state === 'failed') {
    const advice = adviceFor(result.code);
    return { hop, state: 'broken', words: result.detail, ...(advice !== null && { advice }) };
  }
  const isDelivered = result?.state === 'delivered';
  return { hop, state: isDelivered ? 'ok' : 'off', words: isDelivered ? HANDED_OVER : NOT_KNOWN };
}

const HANDED_OVER = "the phone's notification service has it";
const NOT_KNOWN = 'not known yet, it can take 15 minutes: gatehouse notify doctor --wait';

async function spoolChecks(context: CliContext, { session }: CurrentSession): Promise<Check[]> {
  const { spool } = new NotifyWork(context);
  const waiting = (await spool.entries()).filter(
    ({ entry }) => entry.kind === 'delivery' && entry.account.server === session.server,
  );
  const last = waiting.find(({ entry }) => entry.lastError !== null)?.entry.lastError;
  const words = `${waiting.length} deliveries wait${last ? `; one because: ${last.detail}` : ''}`;
  const advice = 'Send them now: gatehouse notify flush';
  return [{ hop: 'spool', state: 'ok', words, ...(waiting.length > 0 && { advice }) }];
}

function verdictOf(checks: readonly Check[], isSilent: boolean): string {
  const broken = checks.filter(({ state }) => state === 'broken').map(({ hop }) => hop);
  return broken.length > 0
    ? `What fails: ${broken.join(', ')}.`
    : `Nothing fails, but ${isSilent ? 'nobody is told: no push and no webhook is on' : 'look above'}.`;
}

function wordsOf({ hop, state, words, advice }: Check): string {
  const mark = { ok: 'ok    ', off: 'off   ', broken: 'BROKEN' }[state];
  return `${mark}  ${hop}: ${words}${advice === undefined ? '' : `\n        ${advice}`}`;
}
