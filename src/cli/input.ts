import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
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

/** Decodes the text without the byte order mark that editors on Windows add. */
export function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

export function readStandardInput(): Promise<Buffer> {
  const tooLarge = usageError('Standard input holds more than 16 MiB.');
  return readStream(process.stdin as AsyncIterable<Buffer>, MAX_INPUT_BYTES, tooLarge);
}

/** @throws `tooLarge` where the stream holds more than `maxBytes` */
export async function readStream(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge = refusedError(`The body is larger than ${maxBytes / 1024 ** 2} MiB.`, 'size'),
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) {
      throw tooLarge;
    }
  }
  return Buffer.concat(chunks);
}

/** Reads a line of the person, or of a script; null at the end of the input. */
export async function readAnswer(): Promise<string | null> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) {
      return line.trim();
    }
    return null;
  } finally {
    lines.close();
    // An open terminal or pipe would keep the program running.
    process.stdin.destroy();
  }
}

export async function readYes(): Promise<boolean> {
  return /^y(es)?$/i.test((await readAnswer()) ?? '');
}

/** @throws CliError (usage) for an empty secret, instead of sending unsigned */
export async function signingSecret(
  { secret, secretFile }: { readonly secret?: string; readonly secretFile?: string },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const given = secretFile === undefined ? secret : textOf(await readInputFile(secretFile)).trim();
  if (given === '') {
    throw usageError('The signing secret is empty.');
  }
  return (given ?? environment['GATEHOUSE_WEBHOOK_SECRET']) || null;
}
