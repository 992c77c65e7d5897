/** Runs the server in this process until a signal ends it; it sets the exit code itself. */
export async function run(): Promise<number> {
  await import('../../main.js');
  return 0;
}
