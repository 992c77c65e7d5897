const LARGEST_DISTANCE = 2;

/**
 * Returns the name that was probably meant: a few letters differ, words are missing, or it is no
 * secret and has no file.
 */
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
  return (
    best ??
    known.find((candidate) => leavesOutWords(upper, candidate)) ??
    known.find((candidate) => upper === `${candidate}_FILE`) ??
    null
  );
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

/** Levenshtein distance. It is not computed if the lengths differ by more than the limit. */
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
