/** Runs at most `size` operations at once; further ones wait. */
export class Slots {
  private readonly line: (() => void)[] = [];
  private free: number;

  constructor(size: number) {
    this.free = size;
  }

  /** Returns the items that match; each check takes a slot. */
  async filter<Item>(
    items: readonly Item[],
    predicate: (item: Item) => Promise<boolean>,
  ): Promise<Item[]> {
    const matches = await Promise.all(items.map((item) => this.run(() => predicate(item))));
    return items.filter((_item, index) => matches[index]);
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free === 0) {
      // The slot passes directly to the next operation, so that no later call takes it first.
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
