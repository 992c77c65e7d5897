/** A set from members in any order, without repetition. */
export function setOf(members) {
  const sorted = members.toSorted(order);
  return sorted.filter((member, index) => index === 0 || order(sorted[index - 1], member) !== 0);
}

/** @returns true for equal values; the members of a set are sorted */
export function isEqual(one, other) {
  if (one === other || typeof one !== 'object' || typeof other !== 'object') {
    return one === other;
  }
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  );
}

function order(one, other) {
  if (typeof one === 'object' || typeof other === 'object') {
    throw new Error('A set of sets, records or maps is not supported.');
  }
  if (one === other) {
    return 0;
  }
  return one < other ? -1 : 1;
}

function mapOf(keys, valueOf) {
  const map = {};
  for (const key of keys) {
    map[key] = valueOf(key);
  }
  return map;
}

function withValue(map, key, value) {
  if (!Object.hasOwn(map, key)) {
    throw new Error(`"${key}" is not a key.`);
  }
  return { ...map, [key]: value };
}

/** Records are written as alternating names and values. */
function recordOf(parts) {
  const pairs = [];
  for (let index = 0; index < parts.length; index += 2) {
    pairs.push([parts[index](), parts[index + 1]]);
  }
  return () => {
    const record = {};
    for (const [name, value] of pairs) {
      record[name] = value();
    }
    return record;
  };
}

/** Operators of Quint by their opcode. Each takes the functions of its arguments, which it calls when it needs them. */
export const BUILT_IN = {
  and: (parts) => () => parts.every((part) => part()),
  or: (parts) => () => parts.some((part) => part()),
  not:
    ([one]) =>
    () =>
      !one(),
  implies:
    ([one, other]) =>
    () =>
      !one() || other(),
  iff:
    ([one, other]) =>
    () =>
      one() === other(),
  ite:
    ([condition, one, other]) =>
    () =>
      condition() ? one() : other(),
  eq:
    ([one, other]) =>
    () =>
      isEqual(one(), other()),
  neq:
    ([one, other]) =>
    () =>
      !isEqual(one(), other()),
  iadd:
    ([one, other]) =>
    () =>
      one() + other(),
  isub:
    ([one, other]) =>
    () =>
      one() - other(),
  ilt:
    ([one, other]) =>
    () =>
      one() < other(),
  ilte:
    ([one, other]) =>
    () =>
      one() <= other(),
  igt:
    ([one, other]) =>
    () =>
      one() > other(),
  igte:
    ([one, other]) =>
    () =>
      one() >= other(),
  Set: (members) => () => setOf(members.map((member) => member())),
  contains:
    ([set, member]) =>
    () =>
      set().includes(member()),
  in:
    ([member, set]) =>
    () =>
      set().includes(member()),
  union:
    ([one, other]) =>
    () =>
      setOf([...one(), ...other()]),
  exclude:
    ([one, other]) =>
    () => {
      const removed = other();
      return one().filter((member) => !removed.includes(member));
    },
  size:
    ([set]) =>
    () =>
      set().length,
  to:
    ([from, to]) =>
    () => {
      const first = from();
      return Array.from({ length: Math.max(to() - first + 1, 0) }, (_, index) => first + index);
    },
  filter:
    ([set, test]) =>
    () => {
      const passes = test();
      return set().filter((member) => passes(member));
    },
  exists:
    ([set, test]) =>
    () => {
      const passes = test();
      return set().some((member) => passes(member));
    },
  forall:
    ([set, test]) =>
    () => {
      const passes = test();
      return set().every((member) => passes(member));
    },
  Rec: recordOf,
  field:
    ([record, name]) =>
    () =>
      record()[name()],
  with:
    ([record, name, value]) =>
    () =>
      withValue(record(), name(), value()),
  keys:
    ([map]) =>
    () =>
      setOf(Object.keys(map())),
  get:
    ([map, key]) =>
    () => {
      const [values, name] = [map(), key()];
      if (!Object.hasOwn(values, name)) {
        throw new Error(`"${name}" is not a key.`);
      }
      return values[name];
    },
  set:
    ([map, key, value]) =>
    () =>
      withValue(map(), key(), value()),
  setBy:
    ([map, key, change]) =>
    () => {
      const [values, name] = [map(), key()];
      return withValue(values, name, change()(values[name]));
    },
  mapBy:
    ([set, valueOf]) =>
    () =>
      mapOf(set(), valueOf()),
};
