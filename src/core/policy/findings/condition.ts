/** A statement about variables, as data for the server and for the chart (`gatehouse.holds`). */
export type Condition<Name extends string = string> =
  /** The variable has a value, or its list an item. */
  | { readonly set: Name }
  /** The boolean variable is true. */
  | { readonly on: Name }
  | { readonly is: readonly [Name, string] }
  /** The list has the item. */
  | { readonly lists: readonly [Name, string] }
  /** Both are set to one port; 0 takes any free port. */
  | { readonly samePort: readonly [Name, Name] }
  /** The list names a provider through which people can log in. */
  | { readonly usable: Name }
  | { readonly not: Condition<Name> }
  | { readonly all: readonly Condition<Name>[] }
  | { readonly any: readonly Condition<Name>[] };

export type Value = string | number | boolean | null | readonly string[];

export interface Facts<Name extends string> {
  valueOf(name: Name): Value;
  /** Ids of providers through which people can log in. */
  readonly providers: readonly string[];
}

export function holds<Name extends string>(
  condition: Condition<Name>,
  facts: Facts<Name>,
): boolean {
  if ('set' in condition) {
    return isSet(facts.valueOf(condition.set));
  }
  if ('on' in condition) {
    return facts.valueOf(condition.on) === true;
  }
  if ('is' in condition) {
    return facts.valueOf(condition.is[0]) === condition.is[1];
  }
  if ('lists' in condition) {
    return itemsOf(facts.valueOf(condition.lists[0])).includes(condition.lists[1]);
  }
  if ('samePort' in condition) {
    const [one, other] = condition.samePort.map((name) => facts.valueOf(name));
    return isSet(one ?? null) && one !== 0 && one === other;
  }
  if ('usable' in condition) {
    const ids = itemsOf(facts.valueOf(condition.usable));
    return facts.providers.some((id) => ids.includes(id));
  }
  if ('not' in condition) {
    return !holds(condition.not, facts);
  }
  return 'all' in condition
    ? condition.all.every((part) => holds(part, facts))
    : condition.any.some((part) => holds(part, facts));
}

/** Returns the variables that a condition is about, each once. */
export function namesIn<Name extends string>(condition: Condition<Name>): Name[] {
  if ('not' in condition) {
    return namesIn(condition.not);
  }
  if ('all' in condition || 'any' in condition) {
    const parts = 'all' in condition ? condition.all : condition.any;
    return [...new Set(parts.flatMap((part) => namesIn(part)))];
  }
  const [names] = Object.values(condition) as [Name | readonly Name[]];
  if (typeof names === 'string') {
    return [names];
  }
  return 'samePort' in condition ? [...names] : names.slice(0, 1);
}

function isSet(value: Value): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null;
}

function itemsOf(value: Value): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}
