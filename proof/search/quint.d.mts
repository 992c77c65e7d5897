export function quint(args: readonly string[]): string;
export function compileModel(file: string, main: string, step?: string): unknown;
