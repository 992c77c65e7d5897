import { SignJWT } from 'jose';
import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import {
  readServiceAccountKey,
  type ServiceAccountKey,
} from '../../config/providers-file/service-account-key.js';
import type { GoogleWorkspaceSettings } from '../../config/providers-file/provider-settings.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import { REFUSED_CLIENT_RETRY_MS } from '../provider-failure.js';

/** An administrator delegates these to the service account. */
const DIRECTORY_SCOPES = [
  'https://www.googleapis.com/auth/admin.directory.group.readonly',
  'https://www.googleapis.com/auth/admin.directory.user.readonly',
] as const;

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Google refuses assertions that live longer than an hour; this one is used at once. */
const ASSERTION_SECONDS = 300;

const RENEW_BEFORE_MS = 5 * 60 * 1000;

export const SERVICE_ACCOUNT_REFUSALS = {
  no_key: 'no key of a service account was read from serviceAccountKeyFile',
  key_refused:
    'Google refuses the key of the service account: it was deleted or disabled; create a new one',
  account_unknown: 'Google does not know the service account of the key file, or it is disabled',
  admin_unknown: 'Google does not know the administrator of adminEmail',
  clock_wrong: 'Google refuses the time in the request: the clock of this machine is wrong',
  delegation_missing: `the service account may not act for adminEmail: in the Admin console, under Domain-wide delegation, its client id needs the scopes ${DIRECTORY_SCOPES.join(' and ')}`,
  grant_refused:
    'Google refuses the key of the service account, or the administrator of adminEmail',
  token_refused: 'the Admin SDK API refuses the access token of the service account',
  api_disabled:
    'the Admin SDK API is not enabled in the Google Cloud project of the service account',
  scope_missing: `the access token lacks a scope; needed are ${DIRECTORY_SCOPES.join(' and ')}`,
  admin_not_authorized:
    'the administrator of adminEmail may not read users and groups: the role needs the Admin API privileges Users > Read and Groups > Read for the whole organization',
} as const;

export type ServiceAccountRefusal = keyof typeof SERVICE_ACCOUNT_REFUSALS;

/** Pauses the requests, because only the operator can resolve the failure. */
export function refusedFor(detail: ServiceAccountRefusal): UpstreamError {
  const retryAfterMs = REFUSED_CLIENT_RETRY_MS;
  return new UpstreamError('service_account_refused', { detail, retryAfterMs });
}

const TOKEN = v.object({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  expires_in: v.pipe(v.number(), v.minValue(1)),
});

const TOKEN_ERROR = v.object({
  error: v.string(),
  error_description: v.fallback(v.string(), ''),
});

/** Error codes of the token endpoint (RFC 6749, 5.2, and Google's own). */
const ERRORS: Readonly<Record<string, ServiceAccountRefusal>> = {
  unauthorized_client: 'delegation_missing',
  access_denied: 'delegation_missing',
  invalid_scope: 'delegation_missing',
  invalid_client: 'account_unknown',
  disabled_client: 'account_unknown',
  deleted_client: 'account_unknown',
};

/** Google distinguishes the cases of `invalid_grant` only in its description. */
const GRANT_ERRORS: readonly (readonly [RegExp, ServiceAccountRefusal])[] = [
  [/signature/i, 'key_refused'],
  [/account not found/i, 'account_unknown'],
  [/email or user id/i, 'admin_unknown'],
  [/timeframe|short-lived/i, 'clock_wrong'],
];

interface AccessToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly renewAt: number;
}

/** Domain-wide delegation: a service account acts for an administrator (RFC 7523, 2.1). */
export class GoogleAccessTokens {
  private readonly key: SecretFile<ServiceAccountKey | null>;
  private known: AccessToken | null = null;
  private pending: Promise<AccessToken> | null = null;

  constructor(
    private readonly settings: GoogleWorkspaceSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {
    const { serviceAccountKeyFile } = settings;
    this.key = new SecretFile<ServiceAccountKey | null>(
      clock,
      null,
      serviceAccountKeyFile,
      readServiceAccountKey,
    );
  }

  /** Concurrent callers share one request. */
  async current(): Promise<string> {
    if (this.known !== null && this.clock.now() < this.known.renewAt) {
      return this.known.token;
    }
    this.pending ??= this.request().finally(() => (this.pending = null));
    return (await this.pending).token;
  }

  forget(token: string): void {
    if (this.known?.token === token) {
      this.known = null;
    }
  }

  private async request(): Promise<AccessToken> {
    const key = await this.key.current();
    if (key === null) {
      throw refusedFor('no_key');
    }
    const now = this.clock.now();
    const assertion = await this.assertion(key, Math.floor(now / 1000));
    const response = await this.http.fetch(key.tokenUri, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: JWT_BEARER, assertion }).toString(),
    });
    if (response.status !== 200) {
      throw await refusalIn(response);
    }
    const { access_token: token, expires_in: seconds } = await readJson(response, TOKEN);
    this.known = { token, renewAt: now + seconds * 1000 - RENEW_BEFORE_MS };
    return this.known;
  }

  private assertion(key: ServiceAccountKey, now: number): Promise<string> {
    return new SignJWT({ scope: DIRECTORY_SCOPES.join(' ') })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(key.keyId && { kid: key.keyId }) })
      .setIssuer(key.clientEmail)
      .setSubject(this.settings.adminEmail)
      .setAudience(key.tokenUri)
      .setIssuedAt(now)
      .setExpirationTime(now + ASSERTION_SECONDS)
      .sign(key.privateKey);
  }
}

/** The error never quotes the response. */
async function refusalIn(response: Response): Promise<UpstreamError> {
  const { error, error_description: description } = await readJson(response, TOKEN_ERROR);
  if (error === 'invalid_grant') {
    const [, detail] = GRANT_ERRORS.find(([text]) => text.test(description)) ?? [];
    return refusedFor(detail ?? 'grant_refused');
  }
  const detail = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
  return detail === undefined ? new UpstreamError('unexpected_answer') : refusedFor(detail);
}
