/** @param milliseconds Unix time @returns date and time in the reader's own format */
export function formatDate(milliseconds: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(
    milliseconds,
  );
}
