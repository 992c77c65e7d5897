import type { GeneratedFile } from './files.mjs';

/** The types of the client kit as they should be. */
export function apiTypesFiles(): Promise<GeneratedFile[]>;
