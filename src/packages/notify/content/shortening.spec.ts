import fc from 'fast-check';
import { contentFor, ENGLISH } from './content.js';
import { maskSecrets } from './mask-secrets.js';
import type { NotificationEvent } from './notification-event.js';
import { readPreferences, type WebhookChannel } from '../preferences.js';
import { pushMessage } from '../push/push-message.js';
import { webPushRequest } from '../push/web-push-message.js';
import { shortenToBytes, cleanText } from './text.js';
import { WEBHOOK_PRESETS, webhookRequest } from '../webhook/webhook-request.js';
import { anEvent, settingsWith } from '../../../../test/fixtures/notification-fixture.js';
import { unicodeText } from '../../../../test/helpers/unicode-text.js';

const graphemesOf = (text: string): string[] =>
  Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);

/** Families, flags, marks stacked on one letter, quotes that JSON doubles, halves of pairs. */
const piece = fc.oneof(
  fc.constantFrom(
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    '🇺🇸',
    'e\u0301',
    'क्ष',
    '\r\n',
    '"',
    '\\',
    '\u0000',
    '\ud83d',
    '\u202e',
  ),
  fc.constant(`a${'\u0300'.repeat(50)}`),
  unicodeText({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const text = fc
  .tuple(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 60 }))
  .map(([pieces, times]) => pieces.join('').repeat(times));
const id = fc.string({
  unit: fc.constantFrom('"', '\\', 'a', '~', '/'),
  minLength: 1,
  maxLength: 128,
});

const event: fc.Arbitrary<NotificationEvent> = fc
  .record({
    topic: fc.constantFrom('ready', 'permission_request', 'user_action_request'),
    id,
    text,
  })
  .chain(({ topic, ...common }) =>
    fc.record({ sessionId: id, requestId: id, title: text, toolName: text }).map((fields) =>
      anEvent(topic, {
        id: common.id,
        serverUrl: `https://gate.example/${'x'.repeat(480)}`,
        session: { sessionId: fields.sessionId, title: fields.title },
        messageText: topic === 'ready' ? common.text : null,
        request: {
          requestId: fields.requestId,
          toolName: fields.toolName,
          details: { command: common.text },
        },
      }),
    ),
  );

const SHOW_ALL = { readyIncludeMessageText: true, requestPreviews: true };
const runs = { numRuns: 40 };

/** Returns true if `short` is a beginning of `whole` in whole graphemes, or all of it. */
function isBeginning(short: string, whole: string): boolean {
  if (short === whole) {
    return true;
  }
  const kept = short.slice(0, -1);
  const near = new Intl.Segmenter('en').segment(whole.slice(0, kept.length + 1_000));
  const boundaries = Array.from(near, ({ index }) => index).filter((end) => end >= kept.length);
  const isWhole = boundaries.some((end) => whole.slice(kept.length, end).trim() === '');
  return short.endsWith('…') && whole.startsWith(kept) && isWhole;
}

describe(shortenToBytes.name, () => {
  it('keeps within the budget and never splits a grapheme', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 3, max: 500 }), (raw, budget) => {
        const whole = cleanText(raw);
        const short = shortenToBytes(whole, budget);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(budget);
        expect(Buffer.from(short).toString()).toBe(short);
        expect(isBeginning(short, whole)).toBe(true);
      }),
      runs,
    );
  });

  it('uses the whole budget: one grapheme more would not fit', () => {
    const whole = 'é€😀'.repeat(50);
    const short = shortenToBytes(whole, 100);
    const kept = graphemesOf(short).length - 1;
    const oneMore = `${graphemesOf(whole)
      .slice(0, kept + 1)
      .join('')}…`;
    expect(Buffer.byteLength(oneMore)).toBeGreaterThan(100);
  });

  it('is not slowed down by a long run of blanks', () => {
    const blanks = ' '.repeat(300_000);
    expect(cleanText(`a${blanks}b${blanks}`)).toBe(`a${blanks}b`);
  });

  it('shortens a huge text in a bounded time', () => {
    expect(shortenToBytes('x'.repeat(20_000_000), 10)).toBe('xxxxxxx…');
  });
});

describe('the notification of a request', () => {
  const serverUrl = 'https://gate.example.org';
  const token = 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]';
  /** The texts of an app and of a browser. */
  const bodiesFor = (command: string): readonly string[] => {
    const requestId = 'dVhXiA4SDZRZ-KlnlY9L-A';
    const one = anEvent('permission_request', {
      ...{ id: `ask-${requestId}`, serverUrl, messageText: null },
      session: { sessionId: 's1', title: 'build-tools' },
      request: { requestId, toolName: 'Bash', details: { command } },
    });
    const content = contentFor(one, SHOW_ALL, ENGLISH, maskSecrets);
    const switches = { ttlSeconds: 60, foregroundBehavior: 'full' } as const;
    const { text: sent } = webPushRequest(one, content, serverUrl, switches);
    const { body } = pushMessage(one, content, { token, serverUrl }, 60);
    return [body, (JSON.parse(sent) as { body: string }).body];
  };

  it.each([
    ['1,000 letters of two bytes', 'é'.repeat(1000)],
    ['2,000 letters of one byte', 'x'.repeat(2000)],
  ])('has a command of %s whole', (_title, command) => {
    const whole = `Bash needs your permission: ${command}`;
    expect(bodiesFor(command)).toEqual([whole, whole]);
  });

  it('is shortened with an ellipsis where its JSON is longer than the payload', () => {
    for (const body of bodiesFor('"'.repeat(2000))) {
      expect(body).toMatch(/^Bash needs your permission: "{1000,}…$/);
    }
  });
});

describe(pushMessage.name, () => {
  it('leaves a quarter of 4096 bytes free for any event, with its routing whole', () => {
    fc.assert(
      fc.property(event, (one) => {
        const token = `ExponentPushToken[${'t'.repeat(200)}]`;
        const content = contentFor(one, SHOW_ALL, ENGLISH, maskSecrets);
        const message = pushMessage(one, content, { token, serverUrl: one.serverUrl }, 3600);
        const encoded = JSON.stringify(message);
        expect(Buffer.byteLength(encoded)).toBeLessThanOrEqual(3072);
        expect(JSON.parse(Buffer.from(encoded).toString())).toEqual(message);
        expect(message.data).toEqual({
          topic: one.topic,
          serverUrl: one.serverUrl,
          sessionId: one.session.sessionId,
          requestId: one.request?.requestId ?? null,
          eventId: one.id,
        });
        expect(isBeginning(message.body, content.body)).toBe(true);
      }),
      runs,
    );
  });
});

describe(webhookRequest.name, () => {
  it.each(WEBHOOK_PRESETS)('fits the budget of %s for any event', (preset) => {
    const [channel] = readPreferences(
      settingsWith([{ url: 'https://hook.example/topic', preset }]),
    ).channels;
    fc.assert(
      fc.property(event, (one) => {
        const content = contentFor(one, SHOW_ALL, ENGLISH, maskSecrets);
        const { body } = webhookRequest(one, content, channel as WebhookChannel);
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(16_384);
        expect(Buffer.from(body).toString()).toBe(body);
        expect(() => JSON.parse(body) as unknown).not.toThrow();
      }),
      runs,
    );
  });

  it('keeps the ids of the generic body whole', () => {
    const [channel] = readPreferences(settingsWith([{ url: 'https://hook.example/' }])).channels;
    fc.assert(
      fc.property(event, (one) => {
        const content = contentFor(one, SHOW_ALL, ENGLISH, maskSecrets);
        const { body } = webhookRequest(one, content, channel as WebhookChannel);
        expect(JSON.parse(body)).toMatchObject({
          session: { sessionId: one.session.sessionId },
          request: one.request && { requestId: one.request.requestId },
          metadata: { eventId: one.id },
        });
      }),
      runs,
    );
  });
});

describe(cleanText.name, () => {
  it.each([
    ['terminal colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a terminal sequence, but not what it holds', '\u001b]0;rm\u0007ls', '\ufffd]0;rm\ufffdls'],
    ['a carriage return that would hide a command', 'rm -rf /\rls', 'rm -rf /\nls'],
    ['backspaces', 'rm\b\bls', 'rm\ufffd\ufffdls'],
    ['a bidirectional override', 'cat \u202egnp.exe', 'cat \ufffdgnp.exe'],
    ['isolates and marks', '\u2066a\u2069\u200f', '\ufffda\ufffd\ufffd'],
    ['half a surrogate pair', 'a\ud83d!', 'a\ufffd!'],
    ['the joiners of a family', '👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
    ['empty lines and trailing blanks', 'a  \n\n\n\nb\n', 'a\n\nb'],
  ])('cleans %s', (_name, raw, clean) => {
    expect(cleanText(raw)).toBe(clean);
  });

  it('changes nothing in a second pass', () => {
    fc.assert(
      fc.property(text, (raw) => {
        expect(cleanText(cleanText(raw))).toBe(cleanText(raw));
      }),
      runs,
    );
  });
});
