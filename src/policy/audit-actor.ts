/** What acts by itself; an operator cannot have such a name. */
const ACTOR_KINDS = ['user', 'system', 'provider'] as const;

export type ActorKind = (typeof ACTOR_KINDS)[number];

declare const isOperatorName: unique symbol;

/** The name of an operator, as {@link toOperatorName} accepts it. */
export type OperatorName = string & { readonly [isOperatorName]: true };

/** Letters, digits, punctuation and spaces: no control characters, none that change the direction. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u;

/**
 * Reads the name under which the audit trail keeps what an operator does: 1 to 64 printable characters
 * without spaces around them, and not one of the kinds above in any spelling.
 *
 * @returns null for a text that is no such name
 */
export function toOperatorName(text: string): OperatorName | null {
  // Full-width letters and the like are compared as the plain ones that they are shown as.
  const spelling = text.normalize('NFKC').toLowerCase().trim();
  const isKind = ACTOR_KINDS.some((kind) => kind === spelling);
  return PRINTABLE.test(text) && text === text.trim() && !isKind ? (text as OperatorName) : null;
}
