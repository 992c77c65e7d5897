import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { decodeFile, decodeSecret } from '../../common/file-text.js';
import { readBounded } from '../../common/read-bounded.js';
import { refusedError, usageError } from './cli-error.js';

/** Larger than any valid input. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** @throws CliError (usage) where the file is unreadable or larger than 16 MiB */
export async function readInputFile(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_INPUT_BYTES) {
      return await readFile(path);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw usageError(`${path} cannot be read (${code}).`);
  }
  throw usageError(`${path} is larger than 16 MiB.`);
}

/** @throws CliError (usage) for UTF-16, which PowerShell writes */
export function decodeInput(bytes: Buffer): string {
  const file = decodeFile(bytes);
  if ('failure' in file) {
    throw usageError(`The input ${file.failure}.`);
  }
  return file.text;
}

export function readStandardInput(): Promise<Buffer> {
  const tooLarge = usageError('Standard input holds more than 16 MiB.');
  return readStream(process.stdin as AsyncIterable<Buffer>, MAX_INPUT_BYTES, tooLarge);
}

/** @throws `tooLarge` where the stream holds more than `maxBytes` */
export function readStream(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge = refusedError(`The body is larger than ${maxBytes / 1024 ** 2} MiB.`, 'size'),
): Promise<Buffer> {
  return readBounded(stream, maxBytes, () => tooLarge);
}

/** Reads the answers of a person, or of a script, line by line from standard input. */
export async function withAnswers<Result>(
  use: (next: () => Promise<string | null>) => Promise<Result>,
): Promise<Result> {
  const lines = createInterface({ input: process.stdin });
  const iterator = lines[Symbol.asyncIterator]();
  try {
    return await use(async () => {
      // Ctrl-C is no answer: what was begun is then ended as after a "no".
      const close = () => lines.close();
      process.once('SIGINT', close);
      const line: IteratorResult<string, unknown> = await iterator.next();
      process.off('SIGINT', close);
      return line.done === true ? null : line.value.trim();
    });
  } finally {
    lines.close();
    // An open terminal or pipe would keep the program running.
    process.stdin.destroy();
  }
}

export function readYes(): Promise<boolean> {
  return withAnswers(async (next) => isYes(await next()));
}

export function isYes(answer: string | null): boolean {
  return /^y(es)?$/i.test(answer ?? '');
}

/** @throws CliError (usage) for an empty secret, instead of sending unsigned */
export async function signingSecret(
  { secret, secretFile }: { readonly secret?: string; readonly secretFile?: string },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const given = secretFile === undefined ? secret : await readSecretFile(secretFile);
  if (given === '') {
    throw usageError('The signing secret is empty.');
  }
  return (given ?? environment['GATEHOUSE_WEBHOOK_SECRET']) || null;
}

/** @throws CliError (usage) where the file is unreadable, empty or in another encoding */
export async function readSecretFile(path: string): Promise<string> {
  const file = decodeSecret(await readInputFile(path));
  if ('failure' in file) {
    throw usageError(`${path} ${file.failure}.`);
  }
  return file.text.trim();
}
