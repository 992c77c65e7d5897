import { isLoopbackHost } from '../policy/return-address.js';
import {
  PROVIDER_FIELDS,
  type Fields,
  type ProviderEntry,
  type ProviderField,
} from './provider-definition.js';
import { closestName } from './unknown-names.js';

const LONGEST_TEXT = 2048;

/** Told with the place in the file, such as `[0].claims.login`. */
export type TellEntryProblem = (place: string, message: string) => void;

/**
 * Reads one entry of the providers file by its definition. What is missing or wrong is told and
 * filled with its default; the caller must not use an entry about which something was told. null
 * when it is no object at all.
 */
export function readProviderEntry(
  value: unknown,
  place: string,
  tell: TellEntryProblem,
): ProviderEntry | null {
  if (!isPlainObject(value)) {
    tell(place, 'must be an object.');
    return null;
  }
  return readObject(PROVIDER_FIELDS, value, place, tell) as unknown as ProviderEntry;
}

function readObject(
  fields: Fields,
  value: unknown,
  place: string,
  tell: TellEntryProblem,
): Record<string, unknown> {
  const given = isPlainObject(value) ? value : {};
  if (given !== value) {
    tell(place, 'must be an object.');
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name)) {
      tell(place, unknownFieldMessage(name, Object.keys(fields)));
    }
  }
  const entries = Object.entries(fields).map(([name, field]) => {
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    return [name, readField(field, own, `${place}.${name}`, tell)];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function readField(
  field: ProviderField,
  value: unknown,
  place: string,
  tell: TellEntryProblem,
): unknown {
  if (field.type === 'object') {
    return readObject(field.fields, value ?? {}, place, tell);
  }
  if (value === undefined || value === null) {
    if (field.required === true) {
      tell(place, 'is missing.');
    }
    return 'default' in field ? (field.default ?? null) : null;
  }
  const failure = failureOf(field, value);
  if (failure !== null) {
    tell(place, failure);
    return 'default' in field ? (field.default ?? null) : null;
  }
  return field.type === 'texts' ? listOf(value, field.lowerCase === true) : value;
}

function failureOf(
  field: Exclude<ProviderField, { type: 'object' }>,
  value: unknown,
): string | null {
  switch (field.type) {
    case 'flag':
      return typeof value === 'boolean' ? null : 'must be true or false.';
    case 'integer':
      return isWithin(value, field.min, field.max)
        ? null
        : `must be a whole number from ${field.min} to ${field.max}.`;
    case 'choice':
      return typeof value === 'string' && field.values.includes(value)
        ? null
        : `must be ${field.values.map((word) => JSON.stringify(word)).join(' or ')}.`;
    case 'texts':
      return Array.isArray(value) && value.every(isText) ? null : 'must be an array of texts.';
    case 'text':
      return isText(value) && (field.pattern?.test(value) ?? true)
        ? null
        : `must be ${field.shape ?? `a text of 1 to ${LONGEST_TEXT} characters`}.`;
    case 'url':
      return urlFailure(value, field.secure === true);
  }
}

function urlFailure(value: unknown, secure: boolean): string | null {
  const url = isText(value) && URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'must be a full address that starts with https://.';
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'must not have a user name, query or fragment.';
  }
  return secure ? insecureFailure(url) : null;
}

/** What is wrong with sending a secret to the address; null when nothing is. */
export function insecureFailure(url: URL): string | null {
  return url.protocol === 'https:' || isLoopbackHost(url.hostname)
    ? null
    : 'must use https (http only on a loopback host).';
}

/** Whole names only: a pasted secret in the place of a field name is not repeated. */
function unknownFieldMessage(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  if (meant !== null) {
    return `has a field that is not known; did you mean ${meant}?`;
  }
  return /^[a-z]\w{0,24}$/i.test(name)
    ? `has the field ${name}, which is not known.`
    : 'has a field that is not known.';
}

function listOf(value: unknown, lowerCase: boolean): string[] {
  const texts = (value as readonly string[]).map((text) => text.trim());
  return [...new Set(lowerCase ? texts.map((text) => text.toLowerCase()) : texts)];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_TEXT;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
