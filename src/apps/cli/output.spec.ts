import { Output, type Listing } from './output.js';

interface Row {
  readonly id: string;
  readonly name: string | null;
  readonly seenAt?: number;
}

const LISTING: Listing<Row> = {
  fields: ['id', 'name', 'seenAt'],
  columns: [
    ['ID', ({ id }) => id],
    ['NAME', ({ name }) => name],
  ],
  empty: 'Nothing.',
};
const ROWS: Row[] = [
  { id: 'long-id', name: null },
  { id: 'b', name: 'Zoë' },
];

interface Options {
  readonly isJson?: boolean;
  readonly fields?: readonly string[];
  readonly isTTY?: boolean;
  readonly isCut?: boolean;
}

async function print(rows: readonly Row[], options: Options = {}) {
  const { isJson = false, fields = null, isTTY = false, isCut = false } = options;
  const text = { out: '', error: '' };
  const streams = {
    out: { write: (part: string) => (text.out += part), isTTY, columns: 11 },
    error: { write: (part: string) => (text.error += part) },
  };
  await new Output(streams, isJson, fields).list({ ...LISTING, isCut }, rows);
  return text;
}

describe('a list', () => {
  it('is a table with aligned columns, and with a header on a terminal only', async () => {
    expect((await print(ROWS)).out).toBe('long-id  -\nb        Zoë\n');
    const { out } = await print(ROWS, { isTTY: true });
    expect(out).toBe('ID       NAME\nlong-id  -\nb        Zoë\n');
  });

  it('is cut at the width of a terminal only, where the listing says so', async () => {
    const rows = [{ id: 'long-id', name: 'Ada' }];
    expect((await print(rows, { isTTY: true, isCut: true })).out).toBe(
      'ID       N…\nlong-id  A…\n',
    );
    expect((await print(rows, { isTTY: true })).out).toBe('ID       NAME\nlong-id  Ada\n');
    expect((await print(rows, { isCut: true })).out).toBe('long-id  Ada\n');
  });

  it('cuts no character in half, and counts an emoji as one', async () => {
    const print11 = (name: string) =>
      print([{ id: 'long-id', name }], { isTTY: true, isCut: true });
    expect((await print11('😀😀')).out).toContain('long-id  😀😀\n');
    expect((await print11('😀😀😀')).out).toContain('long-id  😀…\n');
  });

  it('keeps the columns of many rows, and prints one header', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({ id: `${index}`, name: 'x' }));
    const { out } = await print([...ROWS, ...many], { isTTY: true });
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(1003);
    expect(lines.filter((line) => line.startsWith('ID '))).toHaveLength(1);
    expect(lines.at(-1)).toBe('999      x');
  });

  it('keeps each row on one line, without control characters', async () => {
    const { out } = await print([{ id: 'a\nb', name: '\u001b[31mred\u202e' }]);
    expect(out).toBe('a b  \ufffd[31mred\ufffd\n');
  });

  it('is a JSON line for each row with --json', async () => {
    const { out, error } = await print(ROWS, { isJson: true, isTTY: true });
    expect(out).toBe('{"id":"long-id","name":null}\n{"id":"b","name":"Zoë"}\n');
    expect(error).toBe('');
    expect(await print([], { isJson: true })).toEqual({ out: '', error: '' });
  });

  it('escapes in JSON what would control the terminal or stay invisible', async () => {
    const hostile = [
      ...['\u0007', '\u001b[31m', '\u007f', '\u0085', '\u009b2J', '\u009d0;x\u009c', '\ud800'],
      ...['\u061c', '\u200b', '\u200e', '\u200f', '\u202e', '\u2028', '\u2029', '\u2066', '\u2069'],
      ...['\u00ad', '\u034f', '\u3164', '\ufeff', '\ufe0f', '\u{e0041}', '\u{e0100}'],
    ];
    const rows = hostile.map((text) => ({ id: text, name: `Zoë 漢 😀 ${text}` }));
    const { out } = await print(rows, { isJson: true });
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Row)).toEqual(rows);
    expect(out).toContain('"Zoë 漢 😀 \\u009b2J"');
  });

  it('escapes them in results and failures as well', () => {
    const text = { out: '', error: '' };
    const output = new Output(
      {
        out: { write: (part: string) => (text.out += part) },
        error: { write: (part: string) => (text.error += part) },
      },
      true,
    );
    output.result({ text: '\u009b\u202e' }, '');
    output.failure({ exitCode: 1, code: 'failed', message: '\u009b\u202e' });
    expect(text.out).toBe('{"text":"\\u009b\\u202e"}\n');
    expect(text.error).toContain('"message":"\\u009b\\u202e"');
  });

  it('has the fields of --fields, in their order', async () => {
    const rows = [{ id: 'a', name: 'A', seenAt: 7 }, ...ROWS.slice(1)];
    const fields = ['seenAt', 'id'];
    expect((await print(rows, { fields, isJson: true })).out).toBe(
      '{"seenAt":7,"id":"a"}\n{"seenAt":null,"id":"b"}\n',
    );
    const { out } = await print(rows, { fields, isTTY: true });
    expect(out).toBe('SEEN AT  ID\n7        a\n-        b\n');
  });

  it('refuses an unknown field, also where the list is empty', async () => {
    await expect(print([], { fields: ['id', 'ID'] })).rejects.toMatchObject({
      message: '--fields: there is no ID.',
      facts: { exitCode: 2, hint: 'There are: id, name, seenAt' },
    });
  });

  it('prints a note without rows', async () => {
    expect(await print([], { isTTY: true })).toEqual({ out: '', error: 'Nothing.\n' });
  });
});
