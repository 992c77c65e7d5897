export function configurationPage(): string;
export function environmentExample(): string;
export function withEnvironmentSection(readme: string): string;
