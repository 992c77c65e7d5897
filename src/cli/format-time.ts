/** Unix milliseconds for people, in UTC; a server may have sent anything. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
