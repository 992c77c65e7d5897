import { statSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../../common/runtime/clock.js';
import { PolledFiles } from '../../../common/polled-files.js';
import { readSecret } from './small-file.js';

const LOOK_EVERY_MS = 1000;

/** Files by the clock of their server, because one process may run several servers. */
const POLLED = new WeakMap<Clock, PolledFiles<string, unknown>[]>();

/** Returns the number of secret files that changed to something this server cannot use. */
export function unusedSecretFiles(clock: Clock): number {
  return (POLLED.get(clock) ?? []).filter((files) => files.hasUnusedChange).length;
}

/**
 * Read again on use, at most once a second: rotation needs no restart. An unusable file has no
 * effect.
 */
export class SecretFile<Value> {
  private polledAt = -Infinity;
  private looking: Promise<void> | null = null;
  private readonly files: PolledFiles<string, Value> | null;

  /** @param path null = the secret was not given as a file */
  constructor(
    private readonly clock: Clock,
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
    if (this.files !== null) {
      POLLED.set(clock, [...(POLLED.get(clock) ?? []), this.files]);
    }
  }

  async current(): Promise<Value> {
    if (this.files !== null && this.clock.elapsed() - this.polledAt >= LOOK_EVERY_MS) {
      this.looking ??= this.poll(this.files).finally(() => (this.looking = null));
      await this.looking;
    }
    return this.value;
  }

  private async poll(files: PolledFiles<string, Value>): Promise<void> {
    this.value = (await files.poll()) ?? this.value;
    this.polledAt = this.clock.elapsed();
  }
}

/** Returns false for a pipe, which can be read only once. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function contentsOf(path: string): Promise<string> {
  const file = isFile(path) ? readSecret(path) : { failure: 'does not exist' };
  if ('failure' in file) {
    throw new Error(`It names a file that ${file.failure}.`);
  }
  return Promise.resolve(file.text);
}
