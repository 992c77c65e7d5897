import { filter as matcherOf, type Compare, type Filter } from 'scim2-parse-filter';
import { lowerAscii } from '../../common/lower-ascii.js';
import { isRecord } from '../../core/protocol/is-record.js';
import type {
  DirectoryEmail,
  PersonAttributes,
} from '../storage/repositories/directory/directory-person.repository.js';
import { ScimError } from './scim-error.js';
import { parseFilter } from './scim-filter.js';
import {
  applySteps,
  attributeOf,
  emailsOf,
  flagOf,
  textOrNull,
  userNameOf,
  withoutUrn,
  type JsonObject,
  type ReadPerson,
  type Step,
} from './scim-user.js';

type Op = 'add' | 'replace' | 'remove';

const MAX_OPERATIONS = 100;
const PATH = /^([a-z][\w$-]*)(?:\[([^\]]+)\])?(?:\.([a-z][\w$-]*))?$/i;

/** One attribute of an operation. */
interface Part {
  readonly op: Op;
  readonly path: string;
  readonly value: unknown;
}

/**
 * Applies a PATCH (RFC 7644, 3.5.2): all operations or none, but as {@link applySteps} says. Attributes that
 * are not kept are ignored, because directories also send managers, roles and the attributes of extensions.
 *
 * @throws ScimError
 */
export function patchUser(person: PersonAttributes, body: unknown): ReadPerson {
  const operations = isRecord(body) ? attributeOf(body, 'Operations') : undefined;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw new ScimError('invalidSyntax', 'Operations must be a list of operations.');
  }
  const steps = operations.flatMap(stepsOf);
  const isTooLong = operations.length > MAX_OPERATIONS;
  return applySteps(person, isTooLong ? [...steps, tooManyOperations] : steps);
}

function tooManyOperations(): never {
  throw new ScimError('invalidSyntax', `At most ${MAX_OPERATIONS} operations are possible.`);
}

/** A malformed operation is a step that fails, so that it does not prevent a person's end. */
function stepsOf(operation: unknown): Step[] {
  try {
    return partsOf(operation).map((part) => (current) => changeAt(current, part));
  } catch (error) {
    return [
      () => {
        throw error;
      },
    ];
  }
}

function partsOf(operation: unknown): Part[] {
  if (!isRecord(operation)) {
    throw new ScimError('invalidSyntax', 'An operation must be a JSON object.');
  }
  const op = opOf(attributeOf(operation, 'op'));
  const path = attributeOf(operation, 'path') ?? '';
  const value = attributeOf(operation, 'value');
  if (typeof path !== 'string') {
    throw new ScimError('invalidPath', 'path must be a text.');
  }
  return partsAt(op, path, value);
}

/** The path may be empty, or the URN of the schema; so may be the names in the value. */
function partsAt(op: Op, path: string, value: unknown): Part[] {
  const name = withoutUrn(path.trim());
  if (name !== '') {
    return [{ op, path: name, value }];
  }
  if (op === 'remove' || !isRecord(value)) {
    throw new ScimError('invalidSyntax', 'An operation without a path needs an object as value.');
  }
  return Object.entries(value).flatMap(([key, part]) => (key === '' ? [] : partsAt(op, key, part)));
}

function opOf(value: unknown): Op {
  const op = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw new ScimError('invalidSyntax', 'op must be add, replace or remove.');
  }
  return op;
}

function changeAt(person: PersonAttributes, { op, path, value }: Part): Partial<PersonAttributes> {
  const [, attribute = '', filter, part] = PATH.exec(path) ?? [];
  const isRemoved = op === 'remove';
  switch (attribute.toLowerCase()) {
    case 'username':
      return { userName: userNameOf(isRemoved ? null : value) };
    case 'externalid':
      return { externalId: isRemoved ? null : textOrNull(value, 'externalId') };
    case 'displayname':
      return { displayName: isRemoved ? null : textOrNull(value, 'displayName') };
    case 'active':
      return { isActive: flagOf(isRemoved ? null : value, 'active') };
    case 'emails':
      return { emails: patchEmails(person.emails, { op, filter, part, value }) };
    default:
      if (/^emails\s*\[/i.test(path)) {
        throw new ScimError('invalidPath', 'The path is not valid.');
      }
      return {};
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
  if (!isRecord(given)) {
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
    given.some((one) => lowerAscii(one.value) === lowerAscii(email.value));
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
