/**
 * Ids of organisations that rules name. The first id of a name is kept: after a renaming another
 * organisation can take the name.
 */
export interface OrganizationIds {
  /** @param name lower case @returns null for a name that was never seen */
  find(name: string): Promise<string | null>;
  /** Keeps the id of a name that has none. @returns the id that is kept */
  keep(name: string, id: string): Promise<string>;
}

/** For a process without a database. */
export class RememberedOrganizationIds implements OrganizationIds {
  private readonly ids = new Map<string, string>();

  find(name: string): Promise<string | null> {
    return Promise.resolve(this.ids.get(name) ?? null);
  }

  keep(name: string, id: string): Promise<string> {
    const kept = this.ids.get(name) ?? id;
    this.ids.set(name, kept);
    return Promise.resolve(kept);
  }
}
