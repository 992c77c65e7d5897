export function configurationPage(): string;
export function environmentExample(): string;
