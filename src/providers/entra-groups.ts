import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';
import type { UpstreamHttp } from './upstream-http.js';

const FIRST_PAGE = '/v1.0/me/transitiveMemberOf?$select=id&$top=999';
const GROUP = '#microsoft.graph.group';

/** Microsoft Entra ID itself ends near 20,000 memberships; this only ends a loop of pages. */
const MOST_PAGES = 50;

/**
 * Reads the groups of a person, nested ones included, from Microsoft Graph with the person's own
 * access token, page by page.
 */
export class EntraGroups {
  constructor(
    private readonly graphUrl: string,
    private readonly http: UpstreamHttp,
  ) {}

  /** Ids of the groups; null when the token may not read them. @throws UpstreamError */
  async of(accessToken: string, signal?: AbortSignal): Promise<readonly string[] | null> {
    const groups: string[] = [];
    let next: string | null = new URL(FIRST_PAGE, this.graphUrl).href;
    for (let page = 0; next !== null; page += 1) {
      if (page === MOST_PAGES) {
        throw new UpstreamError('unexpected_answer');
      }
      const body: Record<string, unknown> | null = await this.read(next, accessToken, signal);
      if (body === null) {
        return null;
      }
      groups.push(...groupIds(body['value']));
      next = this.nextPage(body['@odata.nextLink']);
    }
    return groups;
  }

  private async read(url: string, accessToken: string, signal: AbortSignal | undefined) {
    const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
    const response = await this.http.fetch(url, { headers, signal });
    if (response.status === 401 || response.status === 403) {
      return null;
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    return readJsonObject(response);
  }

  /** The access token goes to Graph only, wherever a page says that the next one is. */
  private nextPage(link: unknown): string | null {
    if (link === undefined || link === null) {
      return null;
    }
    const next = typeof link === 'string' && URL.canParse(link) ? new URL(link) : null;
    if (next === null || next.origin !== new URL(this.graphUrl).origin) {
      throw new UpstreamError('unexpected_answer');
    }
    return next.href;
  }
}

/** Directory roles and administrative units stand in the same list. */
function groupIds(members: unknown): string[] {
  if (!Array.isArray(members)) {
    throw new UpstreamError('unexpected_answer');
  }
  const entries = members as readonly { readonly id?: unknown; readonly '@odata.type'?: unknown }[];
  return entries
    .filter((entry) => entry?.['@odata.type'] === GROUP && typeof entry.id === 'string')
    .map(({ id }) => String(id));
}
