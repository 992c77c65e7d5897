/** Logs a lasting condition once, and again only when its key changes, or after {@link clear}. */
export class LogOnce {
  private lastKey: string | null = null;

  constructor(private readonly log: (message: string) => void) {}

  /** @param key names the condition where its message varies */
  write(message: string, key = message): void {
    if (key !== this.lastKey) {
      this.lastKey = key;
      this.log(message);
    }
  }

  clear(): void {
    this.lastKey = null;
  }
}
