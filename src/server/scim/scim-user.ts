import { isIndexable, MAX_INDEXED_BYTES } from '../../common/stored-text.js';
import { isRecord } from '../../core/protocol/is-record.js';
import type {
  DirectoryEmail,
  DirectoryPerson,
  PersonAttributes,
} from '../storage/repositories/directory/directory-person.repository.js';
import { ScimError } from './scim-error.js';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** A JSON object of a request. */
export type JsonObject = Readonly<Record<string, unknown>>;

const MAX_EMAILS = 50;

/** Names of attributes are compared without case (RFC 7643, 2.1), and may have the URN of the schema. */
export function attributeOf(body: JsonObject, name: string): unknown {
  const key = Object.keys(body).find((one) => withoutUrn(one).toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : body[key];
}

/** @throws ScimError for a value that no database stores, or that is too long */
function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || !isIndexable(value)) {
    throw new ScimError(
      'invalidValue',
      `${name} must be a text of at most ${MAX_INDEXED_BYTES} bytes.`,
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

/** Microsoft Entra ID sends the texts "True" and "False", others a list or an object with the value. */
export function flagOf(value: unknown, name: string): boolean {
  const [given] = [value].flat();
  const inner = isRecord(given) ? (attributeOf(given, 'value') ?? attributeOf(given, name)) : given;
  const word = typeof inner === 'string' ? inner.trim().toLowerCase() : inner;
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
    const parts: JsonObject = isRecord(element) ? element : { value: element };
    const address = textOrNull(attributeOf(parts, 'value'), 'emails.value');
    const type = textOrNull(attributeOf(parts, 'type'), 'emails.type');
    const primary = attributeOf(parts, 'primary') ?? '';
    return address === null
      ? []
      : [
          {
            value: address,
            ...(type !== null && { type }),
            ...(primary !== '' && { primary: flagOf(primary, 'emails.primary') }),
          },
        ];
  });
}

export interface ReadPerson {
  readonly person: PersonAttributes;
  /** True if the request itself ends the person's access. */
  readonly isEnd: boolean;
  /** Problems of attributes that keep their former values. */
  readonly problems: readonly string[];
}

type Change = Partial<PersonAttributes>;

/** Reads one attribute of a request. @throws ScimError */
export type Step = (current: PersonAttributes) => Change;

/**
 * Applies all parts of a request or none. The end of a person is the exception: no other attribute of
 * the request may prevent it, so that one that cannot be used keeps its former value.
 *
 * @throws ScimError
 */
export function applySteps(person: PersonAttributes, steps: readonly Step[]): ReadPerson {
  let given: Change = {};
  const failures: ScimError[] = [];
  for (const step of steps) {
    try {
      given = { ...given, ...step({ ...person, ...given }) };
    } catch (error) {
      if (!(error instanceof ScimError)) {
        throw error;
      }
      failures.push(error);
    }
  }
  const [failure] = failures;
  const isEnd = given.isActive === false;
  if (failure !== undefined && !isEnd) {
    throw failure;
  }
  return {
    person: { ...person, ...given },
    isEnd,
    problems: failures.map(({ detail }) => detail),
  };
}

const NO_ONE: PersonAttributes = {
  externalId: null,
  userName: '',
  isActive: true,
  emails: [],
  displayName: null,
};

/**
 * Reads the kept attributes of a whole resource. All others are ignored. Clients write null for an
 * attribute that they do not have.
 *
 * @param former keeps the attributes that the resource does not have; null = a new person
 * @throws ScimError
 */
export function readUser(body: unknown, former: PersonAttributes | null): ReadPerson {
  if (!isRecord(body)) {
    throw new ScimError('invalidSyntax', 'The body must be a JSON object.');
  }
  const core = attributeOf(body, '');
  const valueOf = (name: string): unknown =>
    attributeOf(body, name) ?? (isRecord(core) ? attributeOf(core, name) : undefined);
  const reading =
    (name: string, read: (value: unknown) => Change): Step =>
    () => {
      const value = valueOf(name);
      return value === undefined ? {} : read(value);
    };
  const found = applySteps(former ?? NO_ONE, [
    reading('userName', (value) => ({ userName: userNameOf(value) })),
    reading('externalId', (value) => ({ externalId: textOrNull(value, 'externalId') })),
    reading('displayName', (value) => ({ displayName: textOrNull(value, 'displayName') })),
    reading('active', (value) => ({ isActive: flagOf(value, 'active') })),
    reading('emails', (value) => ({ emails: emailsOf(value) })),
  ]);
  return { ...found, person: { ...found.person, userName: userNameOf(found.person.userName) } };
}

/** The parameters `attributes` and `excludedAttributes` (RFC 7644, 3.9). */
export interface Projection {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
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
    userName,
    active,
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
function baseName(path: string): string {
  return withoutUrn(path).split('.')[0] ?? '';
}

const URN = new RegExp(`^${USER_SCHEMA.replaceAll('.', '\\.')}(?:[:./]|$)`, 'i');

/** Removes the URN of the schema, and the slash of a JSON pointer. @returns '' for the URN alone */
export function withoutUrn(path: string): string {
  return path.replace(URN, '').replace(/^\//, '');
}
