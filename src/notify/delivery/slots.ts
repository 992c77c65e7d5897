/** Lets at most `size` pieces of work run at once; the others wait in line. */
export class Slots {
  private readonly line: (() => void)[] = [];
  private free: number;

  constructor(size: number) {
    this.free = size;
  }

  /** The items of which the answer is yes, each asked in a slot of its own. */
  async filter<Item>(
    items: readonly Item[],
    isMeant: (item: Item) => Promise<boolean>,
  ): Promise<Item[]> {
    const meant = await Promise.all(items.map((item) => this.run(() => isMeant(item))));
    return items.filter((_item, index) => meant[index]);
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free === 0) {
      // The slot passes to the next in line directly, so that no later call can take it first.
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
