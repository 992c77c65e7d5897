import * as v from 'valibot';
import { isLoopbackHost } from '../../../core/policy/flow/return-address.js';
import { repeatedName } from '../../../common/parse-json.js';
import { closestName } from '../environment/closest-name.js';
import { isPlainAddress, NO_PLAIN_ADDRESS } from '../environment/variable.js';

const LONGEST_TEXT = 2048;
const TEXT = `must be a text of 1 to ${LONGEST_TEXT} characters.`;
const TEXTS = 'must be an array of texts.';
const ADDRESS = 'must be a full address that starts with https://.';
const INSECURE = 'must use https (http only on a loopback host).';
export const FLAG = 'must be true or false.';

const isText = (value: string): boolean => value.trim() !== '' && value.length <= LONGEST_TEXT;

export const text = (doc: string) =>
  v.pipe(v.string(TEXT), v.minLength(1, TEXT), v.check(isText, TEXT), v.description(doc));

export const optionalText = <const Fallback extends string | undefined = undefined>(
  doc: string,
  fallback?: Fallback,
) => v.optional(text(doc), fallback as Fallback);

export const pattern = (shape: string, expression: RegExp, doc: string) =>
  v.pipe(
    v.string(`must be ${shape}.`),
    v.regex(expression, `must be ${shape}.`),
    v.description(doc),
  );

export const url = (doc: string) =>
  v.pipe(
    v.string(ADDRESS),
    v.url(ADDRESS),
    v.check((value) => isText(value) && /^https?:$/.test(new URL(value).protocol), ADDRESS),
    v.check(isPlainAddress, NO_PLAIN_ADDRESS),
    v.description(doc),
  );

/** https, or http on a loopback host, because secrets are sent to the address. */
export const secureUrl = (doc: string) =>
  v.pipe(
    url(doc),
    v.check((value) => insecureFailure(new URL(value)) === null, INSECURE),
  );

export const flag = (doc: string, fallback = false) =>
  v.optional(v.pipe(v.boolean(FLAG), v.description(doc)), fallback);

export const choice = <const T extends readonly string[]>(values: T, doc: string) => {
  const words = values.map((value) => JSON.stringify(value)).join(' or ');
  return v.pipe(v.picklist(values, `must be ${words}.`), v.description(doc));
};

export const optionalChoice = <
  const T extends readonly string[],
  const Fallback extends T[number] | undefined = undefined,
>(
  values: T,
  doc: string,
  fallback?: Fallback,
) => v.optional(choice(values, doc), fallback as Fallback);

export const optionalNumber = (
  { min, max }: { readonly min: number; readonly max: number },
  doc: string,
  fallback: number,
) => {
  const range = `must be a whole number from ${min} to ${max}.`;
  const schema = v.pipe(
    v.number(range),
    v.integer(range),
    v.minValue(min, range),
    v.maxValue(max, range),
    v.description(doc),
  );
  return v.optional(schema, fallback);
};

const item = v.pipe(v.string(TEXTS), v.minLength(1, TEXTS), v.check(isText, TEXTS));

export const texts = (doc: string, normalize = (value: string) => value) =>
  v.pipe(
    v.array(item, TEXTS),
    v.transform((items) => [...new Set(items.map((one) => normalize(one.trim())))]),
    v.description(doc),
  );

export const optionalTexts = (doc: string) => v.optional(texts(doc), []);

/** Refuses unknown fields in one message, one per line. */
export const object = <const T extends v.ObjectEntries>(entries: T) => {
  const schema = v.strictObject(entries, ({ expected, received, path }) => {
    if (expected !== 'never') {
      return received === 'undefined' ? 'is missing.' : 'must be an object.';
    }
    const known = Object.keys(entries);
    const given = Object.keys(path?.at(-1)?.input as object);
    const unknown = given.filter((name) => !known.includes(name));
    return unknown.map((name) => unknownField(name, known)).join('\n');
  });
  const run: (typeof schema)['~run'] = (dataset, config) =>
    // Valibot accepts an array as an object.
    schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config);
  return { ...schema, '~run': run };
};

export const optionalObject = <const T extends v.ObjectEntries>(doc: string, entries: T) =>
  v.optional(v.pipe(object(entries), v.description(doc)));

/** An object that is empty where it is missing: its fields have defaults. */
export const section = <const T extends v.ObjectEntries>(doc: string, entries: T) => {
  const schema = v.pipe(object(entries), v.description(doc));
  return v.optional(schema, {} as v.InferInput<typeof schema>);
};

/** The reason against sending a secret to the address, or null. */
export function insecureFailure(address: URL): string | null {
  return address.protocol === 'https:' || isLoopbackHost(address.hostname) ? null : INSECURE;
}

/** Other texts are not repeated, because one may be a pasted secret. */
const LIKE_A_NAME = /^[a-z]\w{0,24}$/i;

/** The parser would use the last one. @returns the problem; null = the valid text has none */
export function repeatedField(json: string): string | null {
  const name = repeatedName(json);
  if (name === null) {
    return null;
  }
  return LIKE_A_NAME.test(name) ? `has the field ${name} twice.` : 'has a field twice.';
}

function unknownField(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  if (meant !== null) {
    return `has a field that is not known; did you mean ${meant}?`;
  }
  return LIKE_A_NAME.test(name)
    ? `has the field ${name}, which is not known.`
    : 'has a field that is not known.';
}
