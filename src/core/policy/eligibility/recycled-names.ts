/** A subject that a person of a directory may be: by an earlier match, or by the name of its last login. */
export interface NamedSubject {
  readonly subject: string;
  /** True if the person was matched with it before, whatever names have changed. */
  readonly isLinked: boolean;
  /** The person whose end refused it: this one or another; null = it is not refused. */
  readonly refusedBy: 'person' | 'another' | null;
  /** True if the directory shows another active person of the same name. */
  readonly isShared: boolean;
  /** True if a login as this subject was matched with that other person. */
  readonly isOfOther: boolean;
}

/**
 * A refusal concerns every subject that the name stands for, because the directory cannot say which one
 * it means. A refused one has its refusal already, which stays that of the person who left.
 * @param isRepeated true if the person was refused before: hired again, they may be another person
 */
export function subjectsToRefuse(
  found: readonly NamedSubject[],
  isRepeated: boolean,
): readonly string[] {
  return found
    .filter(({ refusedBy }) => refusedBy === null)
    .filter(({ isLinked, isShared, isOfOther }) =>
      isLinked ? !isRepeated || !isOfOther : !isShared,
    )
    .map(({ subject }) => subject);
}

/**
 * A namesake admits no subject that another person's end refused, and none where several may be meant.
 * @returns null = none
 */
export function subjectToAdmit(found: readonly NamedSubject[]): string | null {
  const [meant, ...others] = found.filter(({ refusedBy }) => refusedBy !== 'another');
  return meant === undefined || others.length > 0 || isUnclear(meant) ? null : meant.subject;
}

/** True if the name stands for more than one subject, or the subject for more than one person. */
export function isAmbiguous(found: readonly NamedSubject[]): boolean {
  const meant = found.filter(({ refusedBy }) => refusedBy !== 'another');
  return meant.length > 1 || meant.some(isUnclear);
}

function isUnclear({ isLinked, isShared }: NamedSubject): boolean {
  return isShared && !isLinked;
}
