export function asChunk(code: string): string;
export function inAscii(code: string): string;
