import type { GeneratedFile } from './files.mjs';

/** docs/openapi.json as it should be. */
export function apiDocumentFiles(): Promise<GeneratedFile[]>;
