/** A reason why a request is not admitted. */
export type RefusalCode =
  | 'missing-token'
  | 'invalid-request'
  | 'invalid-token'
  | 'token-expired'
  | 'token-revoked'
  | 'program-refused'
  | 'insufficient-scope'
  | 'guard-starting'
  | 'guard-lease-expired'
  | 'guard-closed'
  | 'unavailable';

/** A refusal of a token, with the reason for the log. Its text has nothing of the token. */
export interface RefusedToken {
  readonly code: RefusalCode;
  readonly reason: string;
}

interface RefusalRow {
  readonly status: number;
  /** The `error` of the challenge (RFC 6750, 3.1). A request without a token gets none. */
  readonly error?: string;
  readonly message: string;
}

const REFUSALS = {
  'missing-token': { status: 401, message: 'The request has no access token.' },
  'invalid-request': {
    status: 400,
    error: 'invalid_request',
    message: 'The request has more than one access token, or an address that can be misread.',
  },
  'invalid-token': {
    status: 401,
    error: 'invalid_token',
    message: 'The access token is not valid here.',
  },
  'token-expired': {
    status: 401,
    error: 'invalid_token',
    message: 'The access token has expired.',
  },
  'token-revoked': {
    status: 401,
    error: 'invalid_token',
    message: 'The session of the access token has ended.',
  },
  'program-refused': { status: 403, message: 'Programs are not admitted here.' },
  'insufficient-scope': {
    status: 403,
    error: 'insufficient_scope',
    message: 'The program needs another scope for this.',
  },
  'guard-starting': {
    status: 503,
    message: 'The guard has not yet received the sessions that ended.',
  },
  'guard-lease-expired': {
    status: 503,
    message: 'The guard cannot learn which sessions have ended.',
  },
  'guard-closed': { status: 503, message: 'The guard is closed.' },
  unavailable: { status: 503, message: 'The access token cannot be checked now.' },
} as const satisfies Record<RefusalCode, RefusalRow>;

const RETRY_AFTER_SECONDS = 2;

/** False where no other token helps. */
function hasChallenge(code: RefusalCode, { status }: RefusalRow): boolean {
  return status !== 503 && code !== 'program-refused';
}

/** A request must not be admitted. Answer with {@link status}, {@link headers} and {@link body}. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
  readonly status: number;
  /** The challenge (RFC 6750, 3), which names the protected resource metadata (RFC 9728, 5.1). */
  readonly wwwAuthenticate: string | null;
  readonly retryAfterSeconds: number | null;

  /** @param scope of the challenge: the scopes to ask for; null = it names none */
  constructor(
    readonly code: RefusalCode,
    metadataUrl: string,
    scope: string | null = null,
  ) {
    const row: RefusalRow = REFUSALS[code];
    super(row.message);
    this.status = row.status;
    this.retryAfterSeconds = row.status === 503 ? RETRY_AFTER_SECONDS : null;
    const fields = [
      ...(row.error === undefined
        ? []
        : [`error="${row.error}"`, `error_description="${row.message}"`]),
      ...(scope === null || row.status === 400 ? [] : [`scope="${scope}"`]),
      `resource_metadata="${metadataUrl}"`,
    ];
    this.wwwAuthenticate = hasChallenge(code, row) ? `Bearer ${fields.join(', ')}` : null;
  }

  /** Headers of the answer. */
  get headers(): Readonly<Record<string, string>> {
    return {
      'cache-control': 'no-store',
      ...(this.wwwAuthenticate !== null && { 'www-authenticate': this.wwwAuthenticate }),
      ...(this.retryAfterSeconds !== null && { 'retry-after': String(this.retryAfterSeconds) }),
    };
  }

  /** The body of the answer, in the shape of every refusal of Gatehouse. */
  get body(): { readonly statusCode: number; readonly code: string; readonly message: string } {
    const { status: statusCode, code, message } = this;
    return { statusCode, code, message };
  }
}
