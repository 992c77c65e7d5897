import type { Failure } from './failure.js';

/** Where lines go; the process's own streams, except in tests. */
export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly error: { write(text: string): unknown };
}

/** Results on standard output, everything said beside them on standard error. */
export class Output {
  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
  ) {}

  /** One result: a JSON line, or words. */
  result(value: object, text: string): void {
    this.streams.out.write(`${this.isJson ? JSON.stringify(value) : harmless(text)}\n`);
  }

  /** Something of the input that is left out, in words; with --json a line of its own. */
  skip(words: string): void {
    if (this.isJson) {
      this.result({ skipped: words }, words);
    } else {
      this.note(`Skipped. ${words}`);
    }
  }

  /** What a person may want to know while a command goes on. */
  note(text: string): void {
    this.streams.error.write(`${harmless(text)}\n`);
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

/** A server's words must not steer the terminal: no escapes, no change of writing direction. */
function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
