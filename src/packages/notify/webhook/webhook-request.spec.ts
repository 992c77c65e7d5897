import type { Content } from '../content/content.js';
import { anEvent } from '../../../../test/fixtures/notification-fixture.js';
import { webhookRequest, type WebhookPreset } from './webhook-request.js';

const bodyOf = (preset: WebhookPreset, text: string, title = 'Permission needed'): unknown => {
  const url = 'https://hooks.example/hook';
  const content: Content = {
    ...{ title, subtitle: null, body: text, toolDetails: null, toolName: 'Bash', isPreview: true },
    ...{ sessionTitle: '', metadata: {}, generic: { title, body: '' } },
  };
  return JSON.parse(
    webhookRequest(anEvent('permission_request'), content, { id: 'c', preset, url }).body,
  );
};

interface DiscordBody {
  readonly embeds: readonly [{ readonly title: string; readonly description: string }];
}

describe('a Discord message', () => {
  /** The text as Discord shows it: a backslash before punctuation is dropped. */
  const shown = (text: string): string => text.replace(/\\([^A-Za-z0-9\s])/g, '$1');
  const embedOf = (text: string, title?: string) =>
    (bodyOf('discord', text, title) as DiscordBody).embeds[0];

  it.each([
    ['a spoiler', 'ls ||; rm -rf ~||', 'ls \\|\\|; rm -rf \\~\\|\\|'],
    ['stars', 'rm *.log *.txt', 'rm \\*.log \\*.txt'],
    ['underscores and strokes', '__a__ ~~b~~', '\\_\\_a\\_\\_ \\~\\~b\\~\\~'],
    ['code', '`a` ```b```', '\\`a\\` \\`\\`\\`b\\`\\`\\`'],
    ['a masked link', '[ls](https://x.example/)', '\\[ls\\](https\\://x.example/)'],
    ['mentions and times', '<@1> <t:1:R> <:a:1>', '\\<@1> \\<t\\:1:R> \\<\\:a:1>'],
    ['headings', '# a\n  ## b\n-# c', '\\# a\n  \\## b\n\\-# c'],
    ['lists and quotes', '- a\n+ b\n>>> c\n7. d', '\\- a\n\\+ b\n\\>>> c\n7\\. d'],
    ['backslashes', 'a\\*b\\', 'a\\\\\\*b\\\\'],
    ['names of emoji', 'cp a:fire:b ::x::skin-tone-1:', 'cp a\\:fire:b :\\:x:\\:skin-tone-1:'],
    ['plain text', 'npm test -- --grep "a: b"', 'npm test -- --grep "a: b"'],
  ])('shows %s as they are', (_name, text, escaped) => {
    const { description } = embedOf(text);
    expect(description).toBe(escaped);
    expect(shown(description)).toBe(text);
    expect(embedOf('a', text).title).toBe(escaped);
  });

  it('has at most 4096 bytes of escaped text', () => {
    const { description } = embedOf('*'.repeat(4000));
    expect(Buffer.byteLength(description)).toBeLessThanOrEqual(4096);
    expect(description).toMatch(/^(\\\*){2000,}…$/);
  });
});

interface SlackBody {
  readonly text: string;
  readonly mrkdwn: boolean;
  readonly blocks: readonly { readonly text: { readonly type: string; readonly text: string } }[];
}

describe('a Slack message', () => {
  it('is plain text, so that nothing of a command is formatted away', () => {
    const command = '~rm~ *.log `a` :x: <!channel> & "b"';
    const { text, mrkdwn, blocks } = bodyOf('slack', command) as SlackBody;
    const escaped = '~rm~ *.log `a` :x: &lt;!channel&gt; &amp; "b"';
    expect({ text, mrkdwn }).toEqual({ text: `Permission needed\n${escaped}`, mrkdwn: false });
    expect(blocks.map((block) => block.text)).toEqual([
      { type: 'plain_text', text: 'Permission needed', emoji: false },
      { type: 'plain_text', text: escaped, emoji: false },
    ]);
  });

  it('keeps to the lengths of its blocks', () => {
    const { blocks } = bodyOf('slack', '&'.repeat(3000), '&'.repeat(90)) as SlackBody;
    const [header = '', section = ''] = blocks.map(({ text }) => text.text);
    expect(header).toMatch(/^(&amp;){25,}…$/);
    expect(header.length).toBeLessThanOrEqual(150);
    expect(section).toMatch(/^(&amp;){590,}…$/);
    expect(section.length).toBeLessThanOrEqual(3000);
  });
});
