import { readFileSync } from 'node:fs';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface ModelReplica {
  readonly cache: Readonly<Record<string, { readonly says: string }>>;
  readonly socket: Readonly<Record<string, { readonly isOpen: boolean; readonly age: number }>>;
  readonly hasMessage: boolean;
  readonly reaches: boolean;
}

/** A state of the model, as far as a replay compares it. */
export interface ModelState {
  readonly account: string;
  readonly session: Readonly<Record<string, string>>;
  readonly isEligible: boolean;
  readonly replica: Readonly<Record<string, ModelReplica>>;
  readonly atBackend: Readonly<Record<string, string>>;
}

/** An action that the model took, and the state after it. */
export interface Step {
  readonly action: string;
  readonly replica: string;
  readonly session: string;
  readonly state: ModelState;
}

/** Reads a trace in the Informal Trace Format, as `quint run --mbt` writes it. */
export function readTrace(path: string): Step[] {
  const { states } = JSON.parse(readFileSync(path, 'utf8')) as { states: Json[] };
  return states.map((state) => {
    const {
      'mbt::actionTaken': action,
      'mbt::nondetPicks': picks,
      ...rest
    } = plain(state) as {
      readonly [name: string]: Json;
    };
    const { r, s } = picks as Record<string, { value: string }>;
    return {
      action: action as string,
      replica: r?.value ?? '',
      session: s?.value ?? '',
      state: withoutInstance(rest) as unknown as ModelState,
    };
  });
}

/** Variables of an instance have its name before their own. */
function withoutInstance(state: { readonly [name: string]: Json }): { [name: string]: Json } {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name.split('::').at(-1) ?? name, value]),
  );
}

/** Integers, sets and maps of the format as JSON has them. */
function plain(value: Json): Json {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (value['#bigint'] !== undefined) {
    return Number(value['#bigint']);
  }
  const members = value['#set'] ?? value['#tup'];
  if (members !== undefined) {
    return plain(members);
  }
  const pairs = (value['#map'] as [string, Json][] | undefined) ?? Object.entries(value);
  return Object.fromEntries(pairs.map(([name, one]) => [name, plain(one)]));
}
