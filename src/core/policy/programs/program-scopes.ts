/** A scope of a backend, in words for the person who grants it. */
export interface ProgramScope {
  readonly text: string;
  /** Ids of scopes without which it means nothing. */
  readonly requires: readonly string[];
}

export type ProgramScopes = Readonly<Record<string, ProgramScope>>;

/** Some programs refresh only if they may ask for it. Every grant can be refreshed, so it means nothing. */
export const OFFLINE_ACCESS = 'offline_access';

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/** A scope token (RFC 6749, 3.3) of at most 64 characters. */
export function isScopeName(name: string): boolean {
  return SCOPE.test(name) && name !== OFFLINE_ACCESS;
}

/**
 * Returns the scopes that a program asks for, with those that they require, in the configured order.
 * @param asked the parameter; absent, or naming no scope of the backend = the initial ones
 */
export function askedScopes(
  asked: string | undefined,
  scopes: ProgramScopes,
  initial: readonly string[],
): string[] {
  const named = (asked ?? '').split(' ').filter((name) => Object.hasOwn(scopes, name));
  return withRequired(named.length === 0 ? initial : named, scopes);
}

/** Adds the scopes that these require, and theirs. */
export function withRequired(names: readonly string[], scopes: ProgramScopes): string[] {
  const all = new Set<string>();
  const add = (name: string): void => {
    if (!all.has(name) && Object.hasOwn(scopes, name)) {
      all.add(name);
      scopes[name]?.requires.forEach(add);
    }
  };
  names.forEach(add);
  return Object.keys(scopes).filter((name) => all.has(name));
}

/** Returns true if a person may grant these of the scopes that were asked for. */
export function isGrantable(
  chosen: readonly string[],
  asked: readonly string[],
  scopes: ProgramScopes,
): boolean {
  const isComplete = withRequired(chosen, scopes).length === new Set(chosen).size;
  return chosen.length > 0 && isComplete && chosen.every((name) => asked.includes(name));
}
