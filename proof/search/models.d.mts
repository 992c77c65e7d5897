import type { Explored } from './explore.mjs';

export type InstanceName = 'slice' | 'single' | 'vouched' | 'pair' | 'checks' | 'guard' | 'grant';
export const SCHEDULES: string;
export function exploreInstance(
  name: InstanceName,
  onLayer?: (depth: number, states: number) => void,
): Explored;
