import { utf8 } from '@scure/base';
import { isRecord, recordOf } from './is-record.js';
import { isRequestId } from './request-id.js';

/** Limit of the plaintext (contract, Formats). */
export const MAX_REQUEST_BYTES = 64 * 1024;
/** The display of a larger tool input does not fit on a phone, so it is allowed at the computer only. */
const MAX_INPUT_ALLOWED_REMOTELY_BYTES = 4096;
/** A request stays open for a day at most. */
const MAX_REQUEST_LIFETIME_MS = 24 * 60 * 60_000;

const MAX_QUESTIONS = 16;
const MAX_OPTIONS = 64;

type Fields = Readonly<Record<string, unknown>>;

export interface AskedOption {
  readonly id: string;
  readonly label: string;
  readonly description: string;
}

export interface AskedQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly AskedOption[];
  /** True if several options may be chosen. */
  readonly multiple: boolean;
  /** True if the answer may be a text of the person. */
  readonly custom: boolean;
}

/** A request of a program on a computer to the person (contract, Formats). */
export interface AgentRequest {
  readonly v: 1;
  readonly requestId: string;
  readonly kind: 'permission' | 'user_action';
  /** The address of the server as the asking program uses it. */
  readonly server: string;
  readonly account: string;
  readonly session: { readonly id: string; readonly title: string };
  readonly tool?: { readonly name: string; readonly input: unknown };
  /** The working directory. */
  readonly cwd: string;
  /** The directory is that of the agent's session: the tool may run in another one. */
  readonly cwdOf?: 'session';
  /** The asking program takes no `allow`: it is given at the computer. */
  readonly denyOnly?: true;
  readonly host: string;
  readonly questions?: readonly AskedQuestion[];
  /** Unix milliseconds by the clock of the asking computer, as is `expiresAt`. */
  readonly askedAt: number;
  readonly expiresAt: number;
}

/** Returns the plaintext of a request; null if it is larger than {@link MAX_REQUEST_BYTES}. */
export function writeAgentRequest(request: AgentRequest): Uint8Array<ArrayBuffer> | null {
  const bytes = Uint8Array.from(utf8.decode(JSON.stringify(request)));
  return bytes.length > MAX_REQUEST_BYTES ? null : bytes;
}

/** Returns null for bytes that {@link writeAgentRequest} does not write. Ignores other fields. */
export function readAgentRequest(bytes: Uint8Array): AgentRequest | null {
  const fields = bytes.length > MAX_REQUEST_BYTES ? null : jsonOf(bytes);
  return fields === null ? null : readFields(fields);
}

/** Reads the request of an account without a key, whose content is no sealed text. */
export function readPlainRequest(value: unknown): AgentRequest | null {
  return isRecord(value) ? readFields(value) : null;
}

/** The reason why the answer `allow` of another device does not count. */
export type NotAllowed = 'too-long' | 'deny-only';

/** Returns null if `allow` counts: the program takes it, and the tool's input can be read on a phone. */
export function whyNotAllowed({ tool, denyOnly }: AgentRequest): NotAllowed | null {
  const text = tool === undefined ? '' : inputText(tool.input);
  if (denyOnly === true) {
    return 'deny-only';
  }
  return utf8.decode(text).length <= MAX_INPUT_ALLOWED_REMOTELY_BYTES ? null : 'too-long';
}

/** True if the answer `allow` counts. */
export function isAllowedRemotely(request: AgentRequest): boolean {
  return whyNotAllowed(request) === null;
}

function inputText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** Parses a JSON object in UTF-8; null for anything else. */
export function jsonOf(bytes: Uint8Array): Fields | null {
  try {
    const value: unknown = JSON.parse(utf8.encode(bytes));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function readFields(fields: Fields): AgentRequest | null {
  const { v, requestId, kind, server, account, session, cwd, host, askedAt, expiresAt } = fields;
  const tool = readTool(fields['tool']);
  const questions = readQuestions(fields['questions']);
  if (v !== 1 || !isRequestId(requestId) || (kind !== 'permission' && kind !== 'user_action')) {
    return null;
  }
  if (!areTexts([server, account, cwd, host]) || !isRecord(session)) {
    return null;
  }
  const { id, title } = session;
  if (!areTexts([id, title]) || !isLifetime(askedAt, expiresAt)) {
    return null;
  }
  if (tool === null || questions === null) {
    return null;
  }
  const about = kind === 'permission' ? tool : questions;
  if (about === undefined) {
    return null;
  }
  const texts = { server, account, cwd, host } as Record<
    'server' | 'account' | 'cwd' | 'host',
    string
  >;
  return {
    v,
    requestId,
    kind,
    ...texts,
    session: { id, title } as AgentRequest['session'],
    ...(tool !== undefined && { tool }),
    ...(questions !== undefined && { questions }),
    ...(fields['cwdOf'] === 'session' && { cwdOf: 'session' as const }),
    ...(fields['denyOnly'] === true && { denyOnly: true as const }),
    ...({ askedAt, expiresAt } as { askedAt: number; expiresAt: number }),
  };
}

function readTool(value: unknown): AgentRequest['tool'] | null {
  if (value === undefined) {
    return undefined;
  }
  const { name, input } = recordOf(value);
  return typeof name === 'string' && input !== undefined ? { name, input } : null;
}

function readQuestions(value: unknown): readonly AskedQuestion[] | undefined | null {
  if (value === undefined) {
    return undefined;
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_QUESTIONS) {
    return null;
  }
  const questions = value.map(readQuestion);
  const read = questions.filter((one) => one !== null);
  return read.length === questions.length && areDistinct(read) ? read : null;
}

function readQuestion(value: unknown): AskedQuestion | null {
  const { id, text, options, multiple, custom } = recordOf(value);
  if (typeof id !== 'string' || typeof text !== 'string' || !Array.isArray(options)) {
    return null;
  }
  if (typeof multiple !== 'boolean' || typeof custom !== 'boolean') {
    return null;
  }
  const read = options.map(readOption).filter((one) => one !== null);
  const isWhole = read.length === options.length && read.length <= MAX_OPTIONS;
  // A question that nothing can answer would never end.
  const canBeAnswered = custom || read.length > 0;
  return isWhole && canBeAnswered && areDistinct(read)
    ? { id, text, options: read, multiple, custom }
    : null;
}

function readOption(value: unknown): AskedOption | null {
  const { id, label, description } = recordOf(value);
  return typeof id === 'string' && typeof label === 'string' && typeof description === 'string'
    ? { id, label, description }
    : null;
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function areDistinct(named: readonly { readonly id: string }[]): boolean {
  return new Set(named.map(({ id }) => id)).size === named.length;
}

function isLifetime(askedAt: unknown, expiresAt: unknown): boolean {
  if (!Number.isSafeInteger(askedAt) || !Number.isSafeInteger(expiresAt)) {
    return false;
  }
  const lifetimeMs = (expiresAt as number) - (askedAt as number);
  return lifetimeMs > 0 && lifetimeMs <= MAX_REQUEST_LIFETIME_MS;
}
