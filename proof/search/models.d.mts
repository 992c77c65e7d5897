import type { Explored } from './explore.mjs';

export type InstanceName = 'slice' | 'single' | 'vouched' | 'pair' | 'guard';
export const SCHEDULES: string;
export function exploreInstance(name: InstanceName): Explored;
