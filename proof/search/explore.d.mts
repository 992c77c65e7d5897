import type { Model } from './interpreter.mjs';

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly isComplete: boolean;
  readonly violation: { readonly invariant: string; readonly path: readonly unknown[][] } | null;
}

export function explore(
  model: Model,
  options?: {
    readonly alike?: readonly string[];
    readonly mostSteps?: number;
    readonly onLayer?: (depth: number, states: number) => void;
  },
): Explored;
