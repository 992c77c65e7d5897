import { statSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { PolledFiles } from '../../common/polled-files.js';
import { readSmallFile } from '../environment-sources.js';

const LOOK_EVERY_MS = 1000;

/**
 * A secret that may change while the server runs: its file is read again when the secret is used, at
 * most once a second, so that rotation needs no restart. A file that cannot be used leaves the last
 * valid secret in use.
 */
export class SecretFile<Value> {
  private lookedAt = -Infinity;
  private looking: Promise<void> | null = null;
  private readonly files: PolledFiles<string, Value> | null;

  /**
   * @param value as it was read at the start
   * @param path null = it was not given as a file, and never changes
   * @param parse the content without its last line break. @throws Error with what is wrong with it
   */
  constructor(
    private value: Value,
    path: string | null,
    parse: (text: string) => Value,
  ) {
    const logger = new Logger('SecretFiles');
    this.files =
      path === null || !isFile(path)
        ? null
        : new PolledFiles(
            () => contentsOf(path),
            parse,
            (reason) => logger.error({ msg: 'changed secret is not used', file: path, reason }),
          );
  }

  async current(): Promise<Value> {
    if (this.files !== null && performance.now() - this.lookedAt >= LOOK_EVERY_MS) {
      this.looking ??= this.look(this.files).finally(() => (this.looking = null));
      await this.looking;
    }
    return this.value;
  }

  private async look(files: PolledFiles<string, Value>): Promise<void> {
    this.value = (await files.look()) ?? this.value;
    this.lookedAt = performance.now();
  }
}

/** A pipe can be read once. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function contentsOf(path: string): Promise<string> {
  const file = isFile(path) ? readSmallFile(path) : { failure: 'does not exist' };
  const text = 'text' in file ? file.text.replace(/\r?\n$/, '') : '';
  if ('failure' in file || text === '') {
    throw new Error(`It names a file that ${'failure' in file ? file.failure : 'is empty'}.`);
  }
  return Promise.resolve(text);
}
