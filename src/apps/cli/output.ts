import { usageError } from './cli-error.js';
import type { Failure } from './failure.js';

export interface Streams {
  readonly out: {
    write(text: string): unknown;
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
  readonly error: { write(text: string): unknown };
  /** Aborts once the reader of `out` is gone. */
  readonly unread?: AbortSignal;
}

export interface Listing<Row extends object> {
  /** Names that --fields accepts: the fields of a row with --json. */
  readonly fields: readonly (keyof Row & string)[];
  readonly columns: readonly Column<Row>[];
  /** Cuts the lines at the width of a terminal: --json has the rest. */
  readonly isCut?: boolean;
  /** Text for an empty list; null where the command prints its own. */
  readonly empty: string | null;
}

type Column<Row> = readonly [header: string, cell: (row: Row) => string | null];

const GAP = '  ';
/** Lines of a table that are aligned with each other; later lines may be wider. */
const ALIGNED_LINES = 500;

/** Results go to standard output, notes and failures to standard error. */
export class Output {
  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
    private readonly fields: readonly string[] | null = null,
  ) {}

  /** False where --fields chooses the columns. */
  get printsAllColumns(): boolean {
    return this.fields === null;
  }

  /** Columns of the terminal; undefined where the output is none. */
  get columns(): number | undefined {
    return this.streams.out.isTTY === true ? this.streams.out.columns : undefined;
  }

  /** Calls `end` once results have no reader: a command that waits for events then ends. */
  onUnread(end: () => void): void {
    this.streams.unread?.addEventListener('abort', end);
  }

  /** Prints one result: `value` as a JSON line, or `text`. */
  result(value: object, text: string): void {
    this.streams.out.write(`${this.isJson ? printableJson(value) : printable(text)}\n`);
  }

  /** @throws CliError (usage) where --fields names a field that the rows do not have */
  async list<Row extends object>(
    { fields, columns, isCut = false, empty }: Listing<Row>,
    rows: AsyncIterable<Row> | Iterable<Row>,
  ): Promise<number> {
    const chosen = this.fields?.map((name) => knownField(name, fields)) ?? null;
    const printedColumns = chosen?.map(columnOf<Row>) ?? columns;
    const widths = printedColumns.map(() => 0);
    const isTerminal = this.streams.out.isTTY === true;
    const width = isCut ? this.columns : undefined;
    let lines = isTerminal ? [printedColumns.map(([header]) => header)] : [];
    let count = 0;
    for await (const row of rows) {
      if (this.streams.unread?.aborted === true) {
        break;
      }
      count += 1;
      if (this.isJson) {
        this.result(chosen === null ? row : only(row, chosen), '');
        continue;
      }
      lines.push(printedColumns.map(([, cell]) => printable(oneLine(cell(row) || '-'))));
      if (lines.length >= ALIGNED_LINES) {
        this.streams.out.write(cut(table(lines, widths), width));
        lines = [];
      }
    }
    if (!this.isJson && count > 0) {
      this.streams.out.write(cut(table(lines, widths), width));
    } else if (!this.isJson && empty !== null) {
      this.note(empty);
    }
    return count;
  }

  /** Reports an ignored part of the input; with --json on its own line. */
  skip(text: string): void {
    if (this.isJson) {
      this.result({ skipped: text }, text);
    } else {
      this.note(`Skipped. ${text}`);
    }
  }

  note(text: string): void {
    this.streams.error.write(`${printable(text)}\n`);
  }

  /** Prints a drawing of this program with its escape sequences; never text of a server. */
  draw(drawing: string): void {
    this.streams.error.write(`${drawing}\n`);
  }

  failure(failure: Failure): void {
    if (this.isJson) {
      this.streams.error.write(`${printableJson({ error: failure })}\n`);
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

/** Formats Unix milliseconds as ISO 8601 in UTC; `unknown` for an invalid time. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}

/** Formats Unix milliseconds to the minute in UTC, for people. */
export function formatMinute(ms: number): string {
  return `${formatTime(ms).slice(0, 16).replace('T', ' ')} UTC`;
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

function only<Row extends object>(row: Row, names: readonly (keyof Row & string)[]): object {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

/** @param widths of the columns so far, which grow to fit these rows */
export function table(rows: readonly (readonly string[])[], widths: number[]): string {
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

/** Keeps a text of a server from adding lines to those of this program, by which a person decides. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}

/** Text of a server must not control the terminal: no escapes, no change of writing direction. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** Controls, changes of the writing direction, separators of lines, and characters without a shape. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A line of JSON that parses to the same value and does not control the terminal either. */
function printableJson(value: object): string {
  return JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** @param width of a terminal in characters; undefined = no limit */
function cut(text: string, width: number | undefined): string {
  const fitted = (line: string) =>
    width !== undefined && widthOf(line) > width
      ? `${[...line].slice(0, width - 1).join('')}…`
      : line;
  return text.split('\n').map(fitted).join('\n');
}
