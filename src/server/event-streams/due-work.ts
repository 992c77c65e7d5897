/** Repeats work that may become due again while it runs. */
export class DueWork {
  private isDue = false;
  private running: Promise<void> | null = null;

  /** @param work reads what is due at its start */
  constructor(private readonly work: () => Promise<void>) {}

  /** Runs the work, once more if it already runs. Resolves when nothing is due any more. */
  run(): Promise<void> {
    this.isDue = true;
    this.running ??= this.runWhileDue();
    return this.running;
  }

  /** Resolves when no work runs. */
  async settled(): Promise<void> {
    await this.running;
  }

  private async runWhileDue(): Promise<void> {
    try {
      while (this.isDue) {
        this.isDue = false;
        await this.work();
      }
    } finally {
      // In the turn that saw that nothing is due: a later call would wait for a run that never comes.
      this.running = null;
    }
  }
}
