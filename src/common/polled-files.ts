import { LogOnce } from './log-once.js';

/** Polls, as Kubernetes replaces links. An unusable change is logged once and has no effect. */
export class PolledFiles<Contents, Loaded> {
  private text: string | null = null;
  private isBroken = false;
  private readonly unused: LogOnce;

  /** @param read its result is compared as JSON */
  constructor(
    private readonly read: () => Promise<Contents>,
    private readonly parse: (contents: Contents) => Loaded | Promise<Loaded>,
    logUnused: (reason: string) => void,
  ) {
    this.unused = new LogOnce(logUnused);
  }

  get hasUnusedChange(): boolean {
    return this.isBroken;
  }

  /** @returns null when the contents are unchanged @throws the errors of `read` and `parse` */
  async load(): Promise<Loaded | null> {
    const contents = await this.read();
    const text = JSON.stringify(contents);
    if (text === this.text) {
      return null;
    }
    const loaded = await this.parse(contents);
    this.text = text;
    return loaded;
  }

  /** Like {@link load}, but an unusable change is logged and ignored. */
  async poll(): Promise<Loaded | null> {
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
