/** A client's mistake needs no action of the operator. */
type ErrorLevel = 'debug' | 'warn' | 'error';

interface ErrorRow {
  readonly status: number;
  /** For a person. `{provider}` and `{mediaType}` are replaced by the extra fields of these names. */
  readonly message: string;
  readonly level: ErrorLevel;
}

const row = (status: number, message: string, level: ErrorLevel = 'debug'): ErrorRow => ({
  status,
  message,
  level,
});

/** The contract's error table. */
export const ERRORS = {
  'invalid-request': row(400, 'The request is not valid.'),
  'invalid-public-key': row(400, 'The public key is not a valid key.'),
  'invalid-target': row(400, 'This server issues no tokens for that resource.'),
  'unsupported-grant-type': row(400, 'This server issues no tokens for that grant_type.'),
  'invalid-scope': row(400, 'The scope is unknown, or cannot be given here.'),
  'invalid-pending': row(400, 'This login has expired or was finished. Start it again.'),
  'invalid-proof': row(400, 'This login was started by another client, or with another key.'),
  'invalid-return-to': row(400, 'This server does not return to that address.'),
  'content-mode-mismatch': row(400, 'The content is not of the kind that this account stores.'),
  'plain-account-requires-settings-v2': row(
    400,
    'This account stores plain settings: use /v2/account/settings.',
  ),
  'oauth-not-configured': row(400, 'This server does not know where to return after {provider}.'),
  'missing-token': row(401, 'Send a token: Authorization: Bearer <token>.'),
  'invalid-token': row(401, 'The token is not valid. Sign in again.'),
  'token-expired': row(401, 'The token has expired. Sign in again.'),
  'token-revoked': row(401, 'The token has been revoked. Sign in again.'),
  'invalid-client': row(401, 'The client id or its secret is wrong.'),
  'invalid-signature': row(401, 'The signature does not match the key and the challenge.'),
  'challenge-required': row(401, 'Ask /v1/auth/challenge for a challenge and sign that.'),
  'challenge-expired': row(401, 'The challenge has expired or was used. Ask for a new one.'),
  'mtls-required': row(401, 'Show a client certificate that this server accepts.'),
  'invalid-code': row(401, 'This code has expired or was used. Sign in again.'),
  'fresh-login-required': row(
    403,
    'Sign in again to do this: it needs a login of the last minutes.',
  ),
  'invalid-grant': row(
    400,
    'This code or refresh token is not valid: it was used, superseded, ended, or belongs to another program.',
  ),
  'invalid-redirect': row(
    400,
    'The program did not register the address that it asks to return to.',
  ),
  'unsupported-client-authentication': row(
    400,
    'The program wants to authenticate itself. This server accepts public programs only.',
  ),
  'unsupported-response-type': row(400, 'This server answers programs with a code only.'),
  'interaction-required': row(400, 'This server always asks the person to allow a program.'),
  'unsupported-token-type': row(400, 'Only refresh tokens can be revoked here.'),
  'insufficient-scope': row(403, 'The token does not have the scope of this route.'),
  'signup-disabled': row(403, 'This server does not accept new accounts with a device key alone.'),
  'invitation-invalid': row(
    403,
    'This invitation is not valid: it was mistyped, used up, revoked, or has expired.',
  ),
  'provider-required': row(403, 'Connect {provider} to continue.'),
  'not-eligible': row(403, '{provider} does not confirm that you may use this server.'),
  'admin-role-required': row(403, 'Your role may read here, but not act.'),
  'account-disabled': row(403, 'This account has been disabled by an administrator.'),
  'signup-provider-disabled': row(403, 'New accounts cannot be made through {provider} here.'),
  'keyless-disabled': row(403, 'This server does not offer login without a device key here.'),
  'e2ee-required': row(403, 'This server only has accounts with a device key.'),
  'encrypted-writes-disabled': row(403, 'This server stores plain content only.'),
  'plaintext-writes-disabled': row(403, 'This server stores encrypted content only.'),
  'account-optout-disabled': row(403, 'This server does not let accounts change their encryption.'),
  'origin-not-allowed': row(403, 'This origin may not connect to this server.'),
  'key-challenge-disabled': row(403, 'Device-key login is switched off on this server.'),
  'not-found': row(404, 'There is nothing here.'),
  'unsupported-provider': row(404, 'This server has no such identity provider.'),
  'provider-already-linked': row(
    409,
    'This {provider} identity, or another one, is linked already.',
  ),
  'last-identity': row(
    409,
    'Nothing else opens this account. Connect another identity first, or delete the account.',
  ),
  'restore-required': row(
    409,
    'This identity belongs to an account with a device key. Restore that account.',
  ),
  'already-answered': row(409, 'This was answered already.'),
  'request-expired': row(409, 'The time of this request is over.'),
  'request-id-used': row(409, 'Another request of this account has that id.'),
  'too-many-open-requests': row(409, 'Too many requests of this account wait for an answer.'),
  'too-many-streams': row(409, 'Every stream of this backend is in use.'),
  'request-changed': row(409, 'The request is not the one that was shown.'),
  'migration-required': row(409, 'What is stored has to be migrated to the other mode first.'),
  'payload-too-large': row(413, 'The request is larger than this server accepts.'),
  'unsupported-media-type': row(415, 'Send a body of the type {mediaType}.'),
  'sessions-remain': row(
    422,
    'The person is signed out of {provider}, but has sessions here that need no login there.',
  ),
  'rate-limited': row(429, 'Too many requests. Wait before you try again.'),
  internal: row(500, 'Something went wrong on the server.', 'error'),
  unavailable: row(503, 'The server cannot answer this right now. Try again shortly.', 'warn'),
} satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** `ready`, or the state that prevents it. */
export type DependencyState = string;

/** Fields of a code, in addition to those of every error. */
interface ErrorExtras {
  readonly provider?: string;
  /** The account of a login that is refused; only for a client that has proven its key or identity. */
  readonly accountId?: string;
  /** The reason why the provider does not confirm the owner of `accountId`; only of return addresses. */
  readonly reason?: string;
  /** The type of bodies that the route accepts; part of the message only. */
  readonly mediaType?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  readonly retryAfterSeconds?: number;
  readonly dependencies?: Readonly<Record<string, DependencyState>>;
  /** True if only an answer of the provider is too old; never part of an answer. */
  readonly isOutdated?: true;
}

/** The body of every refusal, over HTTP and in the handshake (contract, Errors). */
export interface ErrorBody {
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly error: ErrorCode;
  readonly message: string;
  readonly provider?: string;
  readonly accountId?: string;
  readonly details?: ErrorExtras['details'];
  readonly dependencies?: ErrorExtras['dependencies'];
  readonly requestId?: string;
}

/** A refusal with its code. Only the filter, the gateway and the CLI translate it. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    readonly extras: ErrorExtras = {},
    options?: ErrorOptions,
  ) {
    super(messageFor(code, extras), options);
  }

  /** Seconds for `Retry-After`: every 429 and 503 carries one. */
  get retryAfterSeconds(): number | undefined {
    const { status } = ERRORS[this.code];
    return status === 429 || status === 503 ? (this.extras.retryAfterSeconds ?? 2) : undefined;
  }

  toBody(requestId?: string): ErrorBody {
    const { provider, accountId, details, dependencies } = this.extras;
    return {
      statusCode: ERRORS[this.code].status,
      code: this.code,
      error: this.code,
      message: this.message,
      ...(provider !== undefined && { provider }),
      ...(accountId !== undefined && { accountId }),
      ...(details !== undefined && { details }),
      ...(dependencies !== undefined && { dependencies }),
      ...(requestId !== undefined && { requestId }),
    };
  }
}

/** Returns the value. @throws AppError with the code if there is none */
export function orRefuse<Value>(value: Value | null | undefined, code: ErrorCode): Value {
  if (value === null || value === undefined) {
    throw new AppError(code);
  }
  return value;
}

function messageFor(code: ErrorCode, extras: ErrorExtras): string {
  const { provider = 'The identity provider', mediaType = 'application/json' } = extras;
  return ERRORS[code].message.replace('{provider}', provider).replace('{mediaType}', mediaType);
}

export function invalidRequest(path: string, message: string): AppError {
  return new AppError('invalid-request', { details: [{ path, message }] });
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}

/** Runs work that is repeated. An outage of the storage is not logged: a later run does the work. */
export async function logUnlessUnavailable(
  logger: { error(error: unknown): void },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isUnavailable(error)) {
      logger.error(error);
    }
  }
}
