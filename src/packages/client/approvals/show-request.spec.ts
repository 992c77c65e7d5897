import fc from 'fast-check';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { markText, textOfLine } from './marked-text.js';
import { showRequest, summaryOf, textOfRequest } from './show-request.js';

const request = (input: unknown, change: Partial<AgentRequest> = {}): AgentRequest => ({
  ...{ v: 1, requestId: 'AAAAAAAAAAAAAAAAAAAAAA', kind: 'permission' },
  ...{ server: 'https://gate.example', account: 'a', session: { id: 's', title: 'Fix the build' } },
  ...{ tool: { name: 'Bash', input }, cwd: '/srv/app', host: 'laptop' },
  ...{ askedAt: 1, expiresAt: 2 },
  ...change,
});
const shown = (text: string, kind: 'command' | 'prose' = 'command') =>
  markText(text, kind).map(textOfLine);

describe(markText.name, () => {
  it.each<[string, string, string[]]>([
    ['a right-to-left override', 'rm \u202egpj.exe', ['rm ⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩gpj.exe']],
    ['an isolate', 'a\u2066b', ['a⟨U+2066 LEFT-TO-RIGHT ISOLATE⟩b']],
    ['an escape sequence', 'a\u001b[2Kb', ['a⟨U+001B ESCAPE⟩[2Kb']],
    ['a carriage return', 'rm -rf /\recho', ['rm -rf /⟨U+000D CARRIAGE RETURN⟩echo']],
    ['a zero width space', 'a\u200bb', ['a⟨U+200B ZERO WIDTH SPACE⟩b']],
    ['a tab', 'a\tb', ['a⟨U+0009 TAB⟩b']],
    ['a letter of another script', 'p\u0430ypal', ['pа⟨U+0430 Cyrillic⟩ypal']],
    ['a slash that is none', 'a\u2215b', ['a∕⟨U+2215 DIVISION SLASH⟩b']],
    ['tag characters', 'a\u{e0041}b', ['a⟨U+E0041 invisible⟩b']],
    ['a half of a surrogate pair', 'a\ud800b', ['a⟨U+D800 unpaired surrogate⟩b']],
    ['a combining character', 'a\u0338b', ['a⟨U+0338 combining⟩b']],
    ['a no-break space', 'a\u00a0b', ['a⟨U+00A0 NO-BREAK SPACE⟩b']],
    ['blanks', `ls${' '.repeat(300)}; rm -rf ~`, ['ls⟨300 blanks⟩; rm -rf ~']],
    ['lines of blanks', `ls${'\n '.repeat(50)}\nrm -rf ~`, ['ls', '⟨50 empty lines⟩', 'rm -rf ~']],
    ['empty lines', `ls${'\n'.repeat(51)}rm -rf ~`, ['ls', '⟨50 empty lines⟩', 'rm -rf ~']],
    ['an own mark', 'ls ⟨3 blanks⟩', ['ls ⟨⟨U+27E8 punctuation⟩3 blanks⟩⟨U+27E9 punctuation⟩']],
    ['plain text', 'npm test -- --grep "a   b"\n\nls', ['npm test -- --grep "a   b"', '', 'ls']],
  ])('marks %s', (_title, text, expected) => {
    expect(shown(text)).toEqual(expected);
  });

  it('keeps prose in any language, and marks what reorders it or is invisible', () => {
    expect(shown('Grüße, 日本語, नमस्ते, 👩‍💻', 'prose')).toEqual(['Grüße, 日本語, नमस्ते, 👩‍💻']);
    expect(shown('a\u202eb\u200bc⟨x⟩', 'prose')[0]).toContain('⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩');
    expect(shown('a\u200bc', 'prose')).toEqual(['a⟨U+200B ZERO WIDTH SPACE⟩c']);
  });

  it('shows every character of any text, and no control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        for (const kind of ['command', 'prose'] as const) {
          const lines = markText(text, kind);
          const printed = lines.map(textOfLine).join('\n');
          // oxlint-disable-next-line no-control-regex -- these are what it looks for
          expect(printed).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
          const plain = lines.flat().filter((piece) => typeof piece === 'string');
          const visible = [...text].filter((one) => /[\x21-\x7e]/.test(one)).join('');
          const kept = [...plain.join('')].filter((one) => /[\x21-\x7e]/.test(one)).join('');
          expect(kept).toBe(visible);
        }
      }),
    );
  });
});

describe(showRequest.name, () => {
  it('shows the command first, then directory and computer, and the words of the agent as such', () => {
    const input = { description: 'Runs the tests', timeout: 5, command: 'rm -rf ~' };
    expect(textOfRequest(showRequest(request(input))).split('\n')).toEqual([
      ...['Command:', '  rm -rf ~', 'Input timeout:', '  5', 'Directory:', '  /srv/app'],
      ...['Computer:', '  laptop', 'Tool, says the agent:', '  Bash'],
      ...['Session, says the agent:', '  Fix the build'],
      ...['Description, says the agent:', '  Runs the tests'],
    ]);
  });

  it.each([
    ['comm\u0430nd', 'commа⟨U+0430 Cyrillic⟩nd'],
    ['a\u202eb', 'a⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩b'],
    ['a\u200bb\u001b[2K', 'a⟨U+200B ZERO WIDTH SPACE⟩b⟨U+001B ESCAPE⟩[2K'],
    ['timeout\nCommand:\n  ls', 'timeout⟨U+000A LINE FEED⟩Command:⟨U+000A LINE FEED⟩  ls'],
    ['x'.repeat(90), 'x'.repeat(90)],
  ])('shows the whole name of an input on its line, with marks: %j', (name, expected) => {
    const shownRequest = showRequest(request({ [name]: 'ls' }));
    expect(textOfLine(shownRequest.fields[0]?.name ?? [])).toBe(expected);
    const [line, value] = textOfRequest(shownRequest).split('\n');
    expect([line, value]).toEqual([`Input ${expected}:`, '  ls']);
  });

  it('keeps the labels of options in any language, and marks what hides a part of them', () => {
    const option = { id: '1', label: 'Größe\n\u202eb', description: '' };
    const question = { id: '1', text: 'Which?', multiple: false, custom: false, options: [option] };
    const { fields } = showRequest(request({}, { kind: 'user_action', questions: [question] }));
    expect(textOfLine(fields[1]?.name ?? [])).toBe(
      'Größe⟨U+000A LINE FEED, U+202E RIGHT-TO-LEFT OVERRIDE⟩b',
    );
  });

  it('allows 4096 bytes of input, and no more', () => {
    const ofLength = (length: number) => request({ command: 'x'.repeat(length) });
    const overhead = JSON.stringify({ command: '' }).length;
    expect(showRequest(ofLength(4096 - overhead)).canAllow).toBe(true);
    const long = showRequest(ofLength(4097 - overhead));
    expect(long.canAllow).toBe(false);
    expect(textOfRequest(long)).toContain('Too long to allow from elsewhere.');
  });

  it('shows a question with its options as words of the agent', () => {
    const questions = [
      {
        ...{ id: '1', text: 'Which one?', multiple: false, custom: false },
        options: [{ id: '1', label: 'A', description: 'the first' }],
      },
    ];
    const question = request({}, { kind: 'user_action', questions });
    expect(textOfRequest(showRequest(question))).toMatch(
      /^Question, says the agent:\n {2}Which one\?\nOption A, says the agent:\n {2}the first\n/,
    );
    expect(summaryOf(question)).toBe('Which one?');
  });

  it('summarises a request by its first line, and counts the others', () => {
    expect(summaryOf(request({ command: 'ls' }))).toBe('ls');
    expect(summaryOf(request({ command: 'ls\u202e\nrm' }))).toBe(
      'ls⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩ ⟨1 more line⟩',
    );
    expect(summaryOf(request({ command: 'ls', env: 'a\nb' }))).toBe('ls ⟨2 more lines⟩');
  });

  it('marks letters with so many marks that they would cover other lines', () => {
    const [above, joiner] = ['\u0301', '\u200d'];
    const title = (text: string) => {
      const { fields } = showRequest(request({}, { session: { id: 's', title: text } }));
      return fields.find(({ label }) => label === 'title')?.lines.map(textOfLine);
    };
    expect(title(`a${above.repeat(4)}`)).toEqual([`a${above.repeat(4)}`]);
    expect(title(`a${above.repeat(300)}b`)?.[0]).toMatch(/^a\u0301{4}⟨U\+0301 .* 288 more⟩b$/);
    expect(title(`a${`${above}${joiner}`.repeat(9)}b`)?.[0]).toMatch(/^a.{4}⟨U\+0301 .*⟩b$/);
  });

  it('indents continued lines of a terminal, so that none looks like a label', () => {
    const forged = `${'x'.repeat(38)}Session, says the agent:漢漢`;
    const shownRequest = showRequest(request({ command: forged }, { cwd: '/' }));
    const lines = textOfRequest(shownRequest, 40).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'Command:',
      `  ${'x'.repeat(38)}`,
      '    Session, says the agent:漢漢⟨U+6F22',
    ]);
    const labels = lines.filter((line) => !line.startsWith(' '));
    expect(labels).toEqual(
      textOfRequest(shownRequest)
        .split('\n')
        .filter((line) => !line.startsWith(' ')),
    );
  });
});
