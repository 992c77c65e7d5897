export interface Planted {
  readonly name: string;
  readonly path: string;
  readonly invariant: string;
  readonly instance: string | null;
  readonly part: string;
  readonly test: string | null;
  readonly past: string | null;
  readonly changedLines: number;
}
export declare function readPlanted(): Planted[];
