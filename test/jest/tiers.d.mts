export type Tier = 'core' | 'full' | 'nightly';
export const TIERS: Readonly<Record<Tier, readonly string[]>>;
export function specFiles(): string[];
export function tiersOf(path: string): Tier[];
