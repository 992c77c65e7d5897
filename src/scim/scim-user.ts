import type {
  DirectoryEmail,
  DirectoryPerson,
  PersonAttributes,
} from '../storage/repositories/directory/directory-person.repository.js';
import { ScimError } from './scim-error.js';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** A JSON object of a request. */
export type JsonObject = Readonly<Record<string, unknown>>;

const MAX_TEXT = 1024;
const MAX_EMAILS = 50;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names of attributes are compared without case (RFC 7643, 2.1). */
export function attributeOf(body: JsonObject, name: string): unknown {
  const key = Object.keys(body).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : body[key];
}

/** @throws ScimError for a value that no database stores, or that is too long */
export function textOf(value: unknown, name: string): string {
  const isText = typeof value === 'string' && !value.includes('\0') && !/\p{Cs}/u.test(value);
  if (!isText || value.length > MAX_TEXT) {
    throw new ScimError(
      'invalidValue',
      `${name} must be a text of at most ${MAX_TEXT} characters.`,
    );
  }
  return value;
}

export function textOrNull(value: unknown, name: string): string | null {
  return value === undefined || value === null || value === '' ? null : textOf(value, name);
}

export function userNameOf(value: unknown): string {
  const userName = textOrNull(value, 'userName');
  if (userName === null) {
    throw new ScimError('invalidValue', 'userName is required.');
  }
  return userName;
}

/** Microsoft Entra ID sends the texts "True" and "False". */
export function flagOf(value: unknown, name: string): boolean {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (word === true || word === 'true') {
    return true;
  }
  if (word === false || word === 'false') {
    return false;
  }
  throw new ScimError('invalidValue', `${name} must be true or false.`);
}

/** Reads `emails`: a list, or one element. Elements without an address are dropped. */
export function emailsOf(value: unknown): DirectoryEmail[] {
  const given = value === undefined || value === null ? [] : [value].flat();
  if (given.length > MAX_EMAILS) {
    throw new ScimError('invalidValue', `emails must have at most ${MAX_EMAILS} elements.`);
  }
  return given.flatMap((element: unknown) => {
    const parts: JsonObject = isObject(element) ? element : { value: element };
    const address = textOrNull(attributeOf(parts, 'value'), 'emails.value');
    const type = textOrNull(attributeOf(parts, 'type'), 'emails.type');
    const primary = attributeOf(parts, 'primary') ?? null;
    return address === null
      ? []
      : [
          {
            value: address,
            ...(type !== null && { type }),
            ...(primary !== null && { primary: flagOf(primary, 'emails.primary') }),
          },
        ];
  });
}

/**
 * Reads the kept attributes of a whole resource. All others are ignored.
 *
 * @param isActive the value where the resource has none
 */
export function readUser(body: unknown, isActive: boolean): PersonAttributes {
  if (!isObject(body)) {
    throw new ScimError('invalidSyntax', 'The body must be a JSON object.');
  }
  const active = attributeOf(body, 'active') ?? null;
  return {
    userName: userNameOf(attributeOf(body, 'userName')),
    externalId: textOrNull(attributeOf(body, 'externalId'), 'externalId'),
    displayName: textOrNull(attributeOf(body, 'displayName'), 'displayName'),
    isActive: active === null ? isActive : flagOf(active, 'active'),
    emails: emailsOf(attributeOf(body, 'emails')),
  };
}

/** The parameters `attributes` and `excludedAttributes` (RFC 7644, 3.9). */
export interface Projection {
  readonly attributes?: string;
  readonly excludedAttributes?: string;
}

/** Writes a person as a SCIM resource. */
export function toResource(
  person: DirectoryPerson,
  location: string,
  { attributes, excludedAttributes }: Projection = {},
): JsonObject {
  const { id, externalId, userName, isActive: active, emails, displayName } = person;
  const always = { schemas: [USER_SCHEMA], id };
  const rest = {
    ...(externalId !== null && { externalId }),
    ...{ userName, active },
    ...(displayName !== null && { displayName }),
    ...(emails.length > 0 && { emails }),
    meta: {
      resourceType: 'User',
      created: new Date(person.createdAt).toISOString(),
      lastModified: new Date(person.changedAt).toISOString(),
      location,
    },
  };
  const wanted = attributes === undefined ? null : namesIn(attributes);
  const unwanted = namesIn(excludedAttributes ?? '');
  const kept = Object.entries(rest).filter(([name]) => {
    const lower = name.toLowerCase();
    return wanted === null ? !unwanted.includes(lower) : wanted.includes(lower);
  });
  return { ...always, ...Object.fromEntries(kept) };
}

/** A sub-attribute stands for its attribute. */
function namesIn(list: string): string[] {
  return list.split(',').map((name) => baseName(name.trim()).toLowerCase());
}

/** Removes the URN of the schema and a sub-attribute. */
export function baseName(path: string): string {
  return withoutUrn(path).split('.')[0] ?? '';
}

export function withoutUrn(path: string): string {
  return path.toLowerCase().startsWith(`${USER_SCHEMA.toLowerCase()}:`)
    ? path.slice(USER_SCHEMA.length + 1)
    : path;
}
