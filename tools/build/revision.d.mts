export function revisionOf(root: string, given: string | undefined): string;
