import { parse, type Filter } from 'scim2-parse-filter';
import type { PersonCondition } from '../storage/repositories/directory/directory-person.repository.js';
import { ScimError } from './scim-error.js';
import { withoutUrn } from './scim-user.js';

/** The parser calls itself for each bracket. */
const MAX_LENGTH = 1024;

/** Parses a filter of RFC 7644, 3.4.2.2. @throws ScimError `invalidFilter` */
export function parseFilter(text: string): Filter {
  if (text.length > MAX_LENGTH) {
    throw new ScimError('invalidFilter', `A filter has at most ${MAX_LENGTH} characters.`);
  }
  try {
    return parse(text);
  } catch {
    throw new ScimError('invalidFilter', 'The filter is not valid.');
  }
}

/**
 * Reads the filter of a search. At least one condition has an index, so that a filter that the server
 * cannot answer quickly is refused.
 *
 * @throws ScimError `invalidFilter`
 */
export function conditionsOf(text: string): PersonCondition[] {
  const filter = parseFilter(text);
  const parts = 'filters' in filter && filter.op === 'and' ? filter.filters : [filter];
  const conditions = parts.map(conditionOf);
  const email = conditions.filter((one) => one.attribute === 'email');
  const isOneElement = email.some(({ type }) => type !== undefined);
  // `emails[type eq "work"].value eq "…"` is about one element of the list.
  const merged = isOneElement
    ? [
        ...conditions.filter((one) => one.attribute !== 'email'),
        email.reduce((element, one) => ({ ...element, ...one })),
      ]
    : conditions;
  // A type alone has no index, and can match everybody.
  return merged.every((one) => one.attribute === 'email' && one.value === undefined)
    ? unsupported()
    : merged;
}

function conditionOf(filter: Filter): PersonCondition {
  if (filter.op === '[]' && 'valFilter' in filter) {
    const { attrPath, valFilter } = filter;
    const inner =
      'filters' in valFilter && valFilter.op === 'and' ? valFilter.filters : [valFilter];
    const isEmails = withoutUrn(attrPath).toLowerCase() === 'emails';
    return isEmails
      ? inner.map(elementOf).reduce((merged, one) => ({ ...merged, ...one }))
      : unsupported();
  }
  const { path, value } = comparisonOf(filter);
  switch (path) {
    case 'id':
      return { attribute: 'id', value };
    case 'externalid':
      return { attribute: 'externalId', value };
    case 'username':
      return { attribute: 'userName', value };
    case 'emails':
    case 'emails.value':
      return { attribute: 'email', value };
    default:
      return unsupported();
  }
}

function elementOf(filter: Filter): Extract<PersonCondition, { attribute: 'email' }> {
  const { path, value } = comparisonOf(filter);
  switch (path) {
    case 'type':
      return { attribute: 'email', type: value };
    case 'value':
      return { attribute: 'email', value };
    default:
      return unsupported();
  }
}

function comparisonOf(filter: Filter): { readonly path: string; readonly value: string } {
  if (filter.op !== 'eq') {
    return unsupported();
  }
  const { attrPath, compValue } = filter;
  if (typeof compValue !== 'string' || compValue.includes('\0')) {
    return unsupported();
  }
  return { path: withoutUrn(attrPath).toLowerCase(), value: compValue };
}

function unsupported(): never {
  throw new ScimError(
    'invalidFilter',
    'Filters compare id, userName, externalId and emails.value with eq, joined by and.',
  );
}
