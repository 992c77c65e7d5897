import { LogOnce } from './log-once.js';

/**
 * Files that are polled for changed contents, not watched: those of a Kubernetes volume are links that
 * are replaced. A change that cannot be used (half written, invalid, gone) is logged once, and the last
 * valid contents stay in use.
 */
export class PolledFiles<Contents, Loaded> {
  private text: string | null = null;
  private isBroken = false;
  private readonly unused: LogOnce;

  /**
   * @param read the contents, comparable as JSON
   * @param parse what they mean
   * @param logUnused called with the reason
   */
  constructor(
    private readonly read: () => Promise<Contents>,
    private readonly parse: (contents: Contents) => Loaded,
    logUnused: (reason: string) => void,
  ) {
    this.unused = new LogOnce(logUnused);
  }

  /** Whether the files changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.isBroken;
  }

  /**
   * @returns null when the contents are those in use
   * @throws what reading and parsing throw
   */
  async load(): Promise<Loaded | null> {
    const contents = await this.read();
    const text = JSON.stringify(contents);
    if (text === this.text) {
      return null;
    }
    const loaded = this.parse(contents);
    this.text = text;
    return loaded;
  }

  /** {@link load}, later: what cannot be used changes nothing. */
  async look(): Promise<Loaded | null> {
    try {
      const loaded = await this.load();
      this.isBroken = false;
      this.unused.clear();
      return loaded;
    } catch (error) {
      this.isBroken = true;
      this.unused.write(error instanceof Error ? error.message : String(error));
      return null;
    }
  }
}
