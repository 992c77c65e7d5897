export interface KeptDatabase {
  readonly url: string;
}
export function takeDatabase(): Promise<KeptDatabase>;
export function returnDatabase(database: KeptDatabase): Promise<void>;
