export interface Model {
  readonly variables: readonly { readonly name: string }[];
  initial(): (visit: (state: unknown[]) => void) => void;
  successors(): (state: unknown[], visit: (state: unknown[]) => void) => void;
}

export function interpret(compiled: unknown): Model;
