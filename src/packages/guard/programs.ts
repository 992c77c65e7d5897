import { isOfPerson, scopesIn, SESSION_CLIENT } from '../../core/policy/admission/scopes.js';

/** A program that acts for a person, who has approved it. */
export interface Program {
  /** Its `client_id`: a name, or the address of its metadata document. */
  readonly id: string;
  /** Its name, which it chose itself. */
  readonly name: string;
  /** Id of the approval, which the person and the administrators see in their lists. */
  readonly grant: string;
}

/** Conditions of a call for programs. The session of a person fulfills all of them. */
export interface Requirement {
  /** Scopes that a program needs, with spaces between them. Without it no program is admitted. */
  readonly scope?: string | undefined;
}

/** The holder of a token. */
export interface Holder {
  /** The program that acts for the person; null = it is the person. */
  readonly program: Program | null;
  /** Scopes of the program; empty for a person, who needs none. */
  readonly scopes: readonly string[];
}

const PERSON: Holder = { program: null, scopes: [] };
/** The longest client id that Gatehouse accepts. */
const MAX_CLIENT_ID = 512;

/** Returns the holder that verified claims name, or the reason why they name none. */
export function holderIn(claims: Readonly<Record<string, unknown>>): Holder | string {
  const { client_id: id, client_name: name, grant_id: grant, scope } = claims;
  if (isOfPerson(claims)) {
    return PERSON;
  }
  if (!isText(id)) {
    return 'its client is not a text';
  }
  if (id === SESSION_CLIENT) {
    return 'it has a scope, though its client is no program';
  }
  const scopes = scopesIn(scope);
  if (scopes === null) {
    return 'it is of a program, and its scope is not a list of scopes';
  }
  if (!isText(name) || !isText(grant)) {
    return 'it is of a program, and its name or grant is not a text';
  }
  return { program: { id, name, grant }, scopes };
}

/** @returns null if the call names no scope @throws TypeError as {@link scopesOf} */
export function requiredScopes(requirement: Requirement): readonly string[] | null {
  const given: unknown = requirement;
  if (typeof given !== 'object' || given === null) {
    throw new TypeError('The conditions of a call are an object: { scope }.');
  }
  const { scope } = requirement;
  return scope === undefined ? null : scopesOf(scope);
}

/** @throws TypeError for a text that is no list of scopes */
export function scopesOf(list: unknown): readonly string[] {
  const scopes = scopesIn(list);
  if (scopes === null) {
    throw new TypeError('A scope must be named, or several with single spaces between them.');
  }
  return scopes;
}

/** A refusal of a program. */
export interface ProgramRefusal {
  readonly code: 'program-refused' | 'insufficient-scope';
  /** For the log. */
  readonly reason: string;
  /** The scopes of the call and those of the token: a program asks for all of them. null = none helps. */
  readonly scope: string | null;
}

/**
 * Judges if a holder may make a call.
 *
 * @param required null = the call names no scope: it is not open to programs
 */
export function programRefusal(
  { program, scopes }: Holder,
  required: readonly string[] | null,
): ProgramRefusal | null {
  if (program === null) {
    return null;
  }
  if (required === null) {
    const reason = 'it is of a program, and the call names no scope';
    return { code: 'program-refused', reason, scope: null };
  }
  if (required.every((one) => scopes.includes(one))) {
    return null;
  }
  const scope = [...new Set([...required, ...scopes])].join(' ');
  return { code: 'insufficient-scope', reason: 'its scopes are not those of the call', scope };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CLIENT_ID;
}
