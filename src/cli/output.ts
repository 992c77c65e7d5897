import { usageError } from './cli-error.js';
import type { Failure } from './failure.js';

/** Where lines are written: the process's own streams, except in tests. */
export interface Streams {
  readonly out: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly error: { write(text: string): unknown };
}

/** How the rows of a list are printed. */
export interface Listing<Row extends object> {
  /** What --fields may choose: the fields of a row with --json. */
  readonly fields: readonly (keyof Row & string)[];
  /** The columns of the table for people. */
  readonly columns: readonly Column<Row>[];
  /** What people read where there is no row; null where the command says it. */
  readonly empty: string | null;
}

type Column<Row> = readonly [header: string, cell: (row: Row) => string | null];

/** Between two columns. */
const GAP = '  ';
/** Lines of a table that are aligned with each other; the columns of those behind are no narrower. */
const ALIGNED_LINES = 500;

/** Results go to standard output, notes and failures to standard error. */
export class Output {
  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
    /** The fields of --fields, of the commands that have it. */
    private readonly fields: readonly string[] | null = null,
  ) {}

  /** One result: `value` as a JSON line, or `text`. */
  result(value: object, text: string): void {
    this.streams.out.write(`${this.isJson ? JSON.stringify(value) : printable(text)}\n`);
  }

  /**
   * Prints a list: with --json a line for each row, else a table, with a header on a terminal only.
   *
   * @returns the number of rows
   * @throws CliError (usage) where --fields names a field that the rows do not have
   */
  async list<Row extends object>(
    { fields, columns, empty }: Listing<Row>,
    rows: AsyncIterable<Row> | Iterable<Row>,
  ): Promise<number> {
    const chosen = this.fields?.map((name) => knownField(name, fields)) ?? null;
    const shown = chosen?.map(columnOf<Row>) ?? columns;
    const widths = shown.map(() => 0);
    const isTerminal = this.streams.out.isTTY === true;
    let lines = isTerminal ? [shown.map(([header]) => header)] : [];
    let count = 0;
    for await (const row of rows) {
      count += 1;
      if (this.isJson) {
        this.result(chosen === null ? row : only(row, chosen), '');
        continue;
      }
      lines.push(shown.map(([, cell]) => oneLine(cell(row) || '-')));
      if (lines.length >= ALIGNED_LINES) {
        this.streams.out.write(table(lines, widths));
        lines = [];
      }
    }
    if (!this.isJson && count > 0) {
      this.streams.out.write(table(lines, widths));
    } else if (!this.isJson && empty !== null) {
      this.note(empty);
    }
    return count;
  }

  /** Reports a part of the input that is ignored; with --json a line of its own. */
  skip(text: string): void {
    if (this.isJson) {
      this.result({ skipped: text }, text);
    } else {
      this.note(`Skipped. ${text}`);
    }
  }

  /** Information for a person while the command runs. */
  note(text: string): void {
    this.streams.error.write(`${printable(text)}\n`);
  }

  /** A drawing of this program, with its escape sequences; never a server's text. */
  draw(drawing: string): void {
    this.streams.error.write(`${drawing}\n`);
  }

  failure(failure: Failure): void {
    if (this.isJson) {
      this.streams.error.write(`${JSON.stringify({ error: failure })}\n`);
      return;
    }
    const { message, hint, details = [], requestId } = failure;
    const lines = [
      `gatehouse: ${message}`,
      ...details.map((detail) => `  ${detail.path}: ${detail.message}`),
      ...(hint === undefined ? [] : [`  ${hint}`]),
      ...(requestId === undefined ? [] : [`  (request ${requestId})`]),
    ];
    this.note(lines.join('\n'));
  }
}

/** Unix milliseconds as ISO 8601 in UTC; `unknown` for a number that is no date. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}

function knownField<Name extends string>(name: string, fields: readonly Name[]): Name {
  const known = fields.find((one) => one === name);
  if (known === undefined) {
    throw usageError(`--fields: there is no ${name}.`, `There are: ${fields.join(', ')}`);
  }
  return known;
}

function columnOf<Row extends object>(name: keyof Row & string): Column<Row> {
  return [name.replace(/[A-Z]/g, ' $&').toUpperCase(), (row) => cellText(row[name] ?? null)];
}

function cellText(value: unknown): string | null {
  return typeof value === 'string' || value === null ? value : JSON.stringify(value);
}

/** A field that a row lacks is null. */
function only<Row extends object>(row: Row, names: readonly (keyof Row & string)[]): object {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

/** @param widths of the columns so far; they grow to hold these rows */
function table(rows: readonly (readonly string[])[], widths: number[]): string {
  rows.forEach((row) =>
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
    }),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}

function widthOf(text: string): number {
  return [...text].length;
}

function oneLine(text: string): string {
  return printable(text.replaceAll('\n', ' '));
}

/** A server's text must not control the terminal: no escapes, no change of writing direction. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
