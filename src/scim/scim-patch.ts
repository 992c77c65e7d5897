import { filter as matcherOf, type Compare, type Filter } from 'scim2-parse-filter';
import type {
  DirectoryEmail,
  PersonAttributes,
} from '../storage/repositories/directory/directory-person.repository.js';
import { ScimError } from './scim-error.js';
import { parseFilter } from './scim-filter.js';
import {
  attributeOf,
  emailsOf,
  flagOf,
  isObject,
  textOrNull,
  userNameOf,
  withoutUrn,
  type JsonObject,
} from './scim-user.js';

type Op = 'add' | 'replace' | 'remove';

const MAX_OPERATIONS = 100;
const PATH = /^([a-z][\w$-]*)(?:\[([^\]]+)\])?(?:\.([a-z][\w$-]*))?$/i;

/**
 * Applies a PATCH (RFC 7644, 3.5.2): all operations or none. Attributes that are not kept are ignored,
 * because directories also send managers, roles and the attributes of extensions.
 *
 * @throws ScimError
 */
export function patchUser(person: PersonAttributes, body: unknown): PersonAttributes {
  const operations = isObject(body) ? attributeOf(body, 'Operations') : undefined;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw new ScimError('invalidSyntax', 'Operations must be a list of operations.');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw new ScimError('invalidSyntax', `At most ${MAX_OPERATIONS} operations are possible.`);
  }
  return operations.reduce<PersonAttributes>(applyOperation, person);
}

function applyOperation(person: PersonAttributes, operation: unknown): PersonAttributes {
  if (!isObject(operation)) {
    throw new ScimError('invalidSyntax', 'An operation must be a JSON object.');
  }
  const op = opOf(attributeOf(operation, 'op'));
  const path = attributeOf(operation, 'path') ?? '';
  const value = attributeOf(operation, 'value');
  if (typeof path !== 'string') {
    throw new ScimError('invalidPath', 'path must be a text.');
  }
  if (path.trim() !== '') {
    return applyAt(person, op, path.trim(), value);
  }
  if (op === 'remove' || !isObject(value)) {
    throw new ScimError('invalidSyntax', 'An operation without a path needs an object as value.');
  }
  return Object.entries(value).reduce(
    (changed, [name, part]) => applyAt(changed, op, name, part),
    person,
  );
}

function opOf(value: unknown): Op {
  const op = typeof value === 'string' ? value.toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw new ScimError('invalidSyntax', 'op must be add, replace or remove.');
  }
  return op;
}

function applyAt(person: PersonAttributes, op: Op, path: string, value: unknown): PersonAttributes {
  const name = withoutUrn(path);
  const [, attribute = '', filter, part] = PATH.exec(name) ?? [];
  const isRemoved = op === 'remove';
  switch (attribute.toLowerCase()) {
    case 'username':
      return { ...person, userName: userNameOf(isRemoved ? null : value) };
    case 'externalid':
      return { ...person, externalId: isRemoved ? null : textOrNull(value, 'externalId') };
    case 'displayname':
      return { ...person, displayName: isRemoved ? null : textOrNull(value, 'displayName') };
    case 'active':
      return { ...person, isActive: flagOf(isRemoved ? null : value, 'active') };
    case 'emails':
      return { ...person, emails: patchEmails(person.emails, { op, filter, part, value }) };
    default:
      if (/^emails\s*\[/i.test(name)) {
        throw new ScimError('invalidPath', 'The path is not valid.');
      }
      return person;
  }
}

interface EmailChange {
  readonly op: Op;
  readonly filter: string | undefined;
  readonly part: string | undefined;
  readonly value: unknown;
}

function patchEmails(emails: readonly DirectoryEmail[], change: EmailChange): DirectoryEmail[] {
  const { op, filter, part, value } = change;
  if (filter === undefined && part === undefined) {
    return patchList(emails, op, value);
  }
  const parsed = filter === undefined ? null : parseFilter(filter);
  const matches: (email: DirectoryEmail) => boolean =
    parsed === null ? () => true : matcherOf(parsed);
  const isMeant = (email: DirectoryEmail): boolean => matches(email);
  if (op === 'remove' && part === undefined) {
    return emails.filter((email) => !isMeant(email));
  }
  const given =
    part === undefined ? value : { [part.toLowerCase()]: op === 'remove' ? null : value };
  if (!isObject(given)) {
    throw new ScimError('invalidValue', 'The value of an element must be an object.');
  }
  if (op !== 'remove' && !emails.some(isMeant)) {
    return emailsOf([...emails, { ...equalsIn(parsed), ...given }]);
  }
  return emailsOf(emails.map((email) => (isMeant(email) ? { ...email, ...given } : email)));
}

function patchList(emails: readonly DirectoryEmail[], op: Op, value: unknown): DirectoryEmail[] {
  const given = emailsOf(value);
  const isGiven = (email: DirectoryEmail): boolean =>
    given.some((one) => one.value.toLowerCase() === email.value.toLowerCase());
  switch (op) {
    case 'replace':
      return given;
    case 'add':
      return emailsOf([...emails.filter((email) => !isGiven(email)), ...given]);
    case 'remove':
      return given.length === 0 ? [] : emails.filter((email) => !isGiven(email));
  }
}

/** A filter that matches nothing describes the element to add. */
function equalsIn(filter: Filter | null): JsonObject {
  if (filter === null) {
    return {};
  }
  const parts = 'filters' in filter && filter.op === 'and' ? filter.filters : [filter];
  const equals = parts.filter((part): part is Compare => part.op === 'eq');
  return Object.fromEntries(
    equals.map(({ attrPath, compValue }) => [attrPath.toLowerCase(), compValue]),
  );
}
