import type { ChildProcess } from 'node:child_process';

/** Collects what a program prints. @returns a function that returns all of it so far */
export function outputOf({
  stdout,
  stderr,
}: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  return () => output;
}
