import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import type { GoogleWorkspaceSettings } from '../../config/providers-file/provider-settings.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import type { DiagnosisStep } from '../identity-provider.js';
import { failedStep, upstreamFailureIn } from '../provider-failure.js';
import {
  GoogleAccessTokens,
  refusedFor,
  SERVICE_ACCOUNT_REFUSALS,
  type ServiceAccountRefusal,
} from './google-access-tokens.js';

const DIRECTORY_URL = 'https://admin.googleapis.com';

/** Limit that ends a loop of pages or nested groups: a person is in at most 10,000 groups. */
const MOST_REQUESTS = 50;

const LARGEST_PAGE = '200';

const USER = v.object({
  id: v.string(),
  primaryEmail: v.string(),
  suspended: v.optional(v.boolean(), false),
  archived: v.optional(v.boolean(), false),
});

const USER_FIELDS = { fields: 'id,primaryEmail,suspended,archived' };

const GROUPS = v.object({
  groups: v.optional(v.array(v.object({ email: v.string() })), []),
  nextPageToken: v.optional(v.string(), ''),
});

const REASONS = v.fallback(v.array(v.object({ reason: v.fallback(v.string(), '') })), []);

/** Errors of Google's APIs: reasons in `errors`, newer ones in `details`. */
const REFUSAL = v.fallback(v.object({ error: v.object({ errors: REASONS, details: REASONS }) }), {
  error: { errors: [], details: [] },
});

const RATE_LIMIT = /^(rateLimitExceeded|userRateLimitExceeded|quotaExceeded|RATE_LIMIT_EXCEEDED)$/;

const FORBIDDEN: Readonly<Record<string, ServiceAccountRefusal>> = {
  accessNotConfigured: 'api_disabled',
  SERVICE_DISABLED: 'api_disabled',
  insufficientPermissions: 'scope_missing',
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: 'scope_missing',
};

interface DirectoryUser {
  readonly email: string;
  /** The e-mail addresses of the groups, in lower case. */
  readonly groups: readonly string[];
}

/** `hidden`: the administrator may not see that user, who belongs to another organization. */
type DirectoryAnswer = DirectoryUser | 'absent' | 'suspended' | 'hidden';

/** Finds users by the subject of their ID tokens, which the directory never reuses. */
export class GoogleDirectory {
  private readonly tokens: GoogleAccessTokens;

  constructor(
    private readonly settings: GoogleWorkspaceSettings,
    private readonly http: UpstreamHttp,
    clock: Clock,
  ) {
    this.tokens = new GoogleAccessTokens(settings, http, clock);
  }

  async find(subject: string, signal?: AbortSignal): Promise<DirectoryAnswer> {
    const user = await this.read(['users', subject], USER_FIELDS, USER, signal);
    if (typeof user === 'string') {
      await this.requireOwnRecord(signal);
      return user;
    }
    // An alias or an address would find a user with another id.
    if (user.id !== subject) {
      throw new UpstreamError('unexpected_answer', { detail: 'subject_mismatch' });
    }
    if (user.suspended || user.archived) {
      return 'suspended';
    }
    return { email: user.primaryEmail, groups: await this.groupsOf(subject, signal) };
  }

  async diagnose(): Promise<DiagnosisStep> {
    try {
      await this.requireOwnRecord(undefined);
      await this.groupsOf(this.settings.adminEmail, undefined);
    } catch (error) {
      const step = failedStep('directory', error);
      const { detail = '' } = upstreamFailureIn(error) ?? {};
      return Object.hasOwn(SERVICE_ACCOUNT_REFUSALS, detail)
        ? { ...step, message: SERVICE_ACCOUNT_REFUSALS[detail as ServiceAccountRefusal] }
        : step;
    }
    const message = 'the service account reads the users and groups of Google Workspace';
    return { step: 'directory', severity: 'ok', cause: null, message };
  }

  /**
   * A user is absent only if the administrator's own record is visible: without privileges, none
   * is.
   */
  private async requireOwnRecord(signal: AbortSignal | undefined): Promise<void> {
    const own = await this.read(['users', this.settings.adminEmail], USER_FIELDS, USER, signal);
    if (typeof own === 'string') {
      throw refusedFor(own === 'absent' ? 'admin_unknown' : 'admin_not_authorized');
    }
  }

  private async groupsOf(user: string, signal: AbortSignal | undefined): Promise<string[]> {
    const found = new Set<string>();
    const members = [user];
    let requests = 0;
    for (const member of members) {
      let pageToken = '';
      do {
        requests += 1;
        if (requests > MOST_REQUESTS) {
          throw new UpstreamError('unexpected_answer', { detail: 'too_many_groups' });
        }
        const page = await this.groupsPage(member, member === user, pageToken, signal);
        const added = page.groups.map(({ email }) => email.toLowerCase());
        if (this.settings.nestedGroups) {
          members.push(...added.filter((group) => !found.has(group)));
        }
        added.forEach((group) => found.add(group));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
    }
    return [...found];
  }

  private async groupsPage(
    member: string,
    isUser: boolean,
    pageToken: string,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<typeof GROUPS>> {
    const query = {
      userKey: member,
      maxResults: LARGEST_PAGE,
      fields: 'nextPageToken,groups(email)',
      ...(pageToken !== '' && { pageToken }),
    };
    const page = await this.read(['groups'], query, GROUPS, signal);
    if (typeof page !== 'string') {
      return page;
    }
    // The user is visible, so the group may belong to another organization.
    if (isUser) {
      throw page === 'absent'
        ? new UpstreamError('unexpected_answer')
        : refusedFor('admin_not_authorized');
    }
    return { groups: [], nextPageToken: '' };
  }

  /** @param path segments, encoded here */
  private async read<Schema extends v.GenericSchema>(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    schema: Schema,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<Schema> | 'absent' | 'hidden'> {
    const place = path.map(encodeURIComponent).join('/');
    const url = new URL(
      `/admin/directory/v1/${place}`,
      this.settings.directoryUrl ?? DIRECTORY_URL,
    );
    url.search = new URLSearchParams(query).toString();
    const response = await this.send(url, signal);
    return response.status === 200 ? readJson(response, schema) : noAnswerIn(response);
  }

  private async send(url: URL, signal: AbortSignal | undefined): Promise<Response> {
    for (let isRetry = false; ; isRetry = true) {
      const token = await this.tokens.current();
      const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
      const response = await this.http.fetch(url, { headers, signal });
      if (response.status !== 401) {
        return response;
      }
      // The key of the token may have been deleted and replaced.
      this.tokens.forget(token);
      if (isRetry) {
        throw refusedFor('token_refused');
      }
    }
  }
}

/** Interprets Google's own refusals; those of other programs have no meaning. */
async function noAnswerIn(response: Response): Promise<'absent' | 'hidden'> {
  const { error } = await readJson(response, REFUSAL);
  const reasons = [...error.errors, ...error.details].map(({ reason }) => reason);
  if (response.status === 404 && reasons.includes('notFound')) {
    return 'absent';
  }
  if (response.status === 403) {
    if (reasons.some((reason) => RATE_LIMIT.test(reason))) {
      throw new UpstreamError('rate_limited');
    }
    for (const reason of reasons) {
      const detail = Object.hasOwn(FORBIDDEN, reason) ? FORBIDDEN[reason] : undefined;
      if (detail !== undefined) {
        throw refusedFor(detail);
      }
    }
    if (reasons.includes('forbidden')) {
      return 'hidden';
    }
  }
  throw new UpstreamError('unexpected_answer');
}
