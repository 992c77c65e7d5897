export function writeTraces(options: {
  readonly directory: string;
  readonly count: number;
  readonly seed: string;
}): void;
