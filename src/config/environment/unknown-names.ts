import type { ConfigurationReport } from '../configuration-error.js';
import { SECRET_NAMES, VARIABLE_NAMES } from './env.js';

const LARGEST_DISTANCE = 2;

/**
 * Judges the names that look like ours and are not: a misspelt one would silently leave its policy
 * at the default, so it is a problem; any other is a warning. `GITHUB_*` is shared with build
 * machines, so only a near miss counts there.
 */
export function checkUnknownNames(names: readonly string[], report: ConfigurationReport): void {
  const known = [...VARIABLE_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
  const knownSet = new Set<string>(known);
  for (const name of names) {
    if (!/^(AUTH|SERVICE|GITHUB)_/i.test(name) || knownSet.has(name)) {
      continue;
    }
    const meant = closestName(name, known);
    if (meant !== null) {
      report.problem(name, `is not a variable of this server; did you mean ${meant}?`);
    } else if (!/^GITHUB_/i.test(name)) {
      report.warn(`${name} is not a variable of this server and is ignored.`);
    }
  }
}

/** The known name that was probably meant: a few letters away, or with some words left out. */
export function closestName(name: string, known: readonly string[]): string | null {
  const upper = name.toUpperCase();
  let best: string | null = null;
  let bestDistance = LARGEST_DISTANCE + 1;
  for (const candidate of known) {
    const distance = editDistance(upper, candidate.toUpperCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? known.find((candidate) => leavesOutWords(upper, candidate)) ?? null;
}

function leavesOutWords(name: string, candidate: string): boolean {
  const words = name.split(/_+/).filter((word) => word !== '');
  const wanted = candidate.split(/_+/);
  return (
    words.length >= 3 &&
    words.length >= wanted.length - 2 &&
    words.every((word) => wanted.includes(word))
  );
}

/** Levenshtein distance; lengths further apart than the limit are not worth computing. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > LARGEST_DISTANCE) {
    return LARGEST_DISTANCE + 1;
  }
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + cost,
        ),
      );
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
