/** Statements are constants of this program: far fewer than this. */
const MAX_NAMES = 500;

/** One name per statement text, so that PostgreSQL parses and plans it once per connection. */
export class PreparedStatements {
  private readonly names = new Map<string, string>();

  /** @returns undefined when there are so many texts that they cannot all be constants */
  nameOf(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size >= MAX_NAMES) {
      return known;
    }
    const name = `gatehouse_${this.names.size + 1}`;
    this.names.set(text, name);
    return name;
  }
}
