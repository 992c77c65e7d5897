export function runCommand(command: {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
