import type { Failure } from './failure.js';

/** Where lines are written: the process's own streams, except in tests. */
export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly error: { write(text: string): unknown };
}

/** Results go to standard output, notes and failures to standard error. */
export class Output {
  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
  ) {}

  /** One result: `value` as a JSON line, or `text`. */
  result(value: object, text: string): void {
    this.streams.out.write(`${this.isJson ? JSON.stringify(value) : printable(text)}\n`);
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

/** A server's text must not control the terminal: no escapes, no change of writing direction. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
