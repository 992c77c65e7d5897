/** Lets at most `size` pieces of work run at once; the others wait in line. */
export class Slots {
  private readonly line: (() => void)[] = [];
  private free: number;

  constructor(size: number) {
    this.free = size;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free === 0) {
      // Whoever leaves hands the slot over, so that nobody can slip in between.
      await new Promise<void>((enter) => this.line.push(enter));
    } else {
      this.free -= 1;
    }
    try {
      return await work();
    } finally {
      const next = this.line.shift();
      if (next === undefined) {
        this.free += 1;
      } else {
        next();
      }
    }
  }
}
