/** A small directory may lose a few people in an hour. */
const LEAST = 20;

/**
 * Returns how many people a directory may deactivate within an hour before that raises an alarm.
 *
 * @param people of the directory
 * @param percentage of them, from 1 to 100
 */
export function deactivationLimit(people: number, percentage: number): number {
  return Math.max((people * percentage) / 100, LEAST);
}
