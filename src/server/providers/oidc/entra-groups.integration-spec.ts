import {
  startLocalServer,
  type Answer,
  type Fault,
  type LocalServer,
} from '../../../../test/helpers/local-server.js';
import { DIRECT } from '../../../../test/fixtures/provider-settings-fixture.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { EntraGroups } from './oidc-profile.js';
import { UpstreamHttp } from '../http/upstream-http.js';

const GROUP = '#microsoft.graph.group';

const refusalWith = (code: string): Answer => ({ status: 403, json: { error: { code } } });

describe(EntraGroups, () => {
  let graph: LocalServer;
  let pages: (Answer | Fault)[];
  let tokens: (string | undefined)[];

  beforeEach(async () => {
    tokens = [];
    graph = await startLocalServer(({ url, headers }) => {
      tokens.push(headers['authorization']);
      return pages[Number(url.searchParams.get('page') ?? 0)] ?? 'not-found';
    });
  });

  afterEach(() => graph.close());

  const page = (ids: string[], nextLink?: string): Answer => {
    const value = ids.map((id) => ({ '@odata.type': GROUP, id }));
    return { status: 200, json: { value, '@odata.nextLink': nextLink } };
  };

  const read = () =>
    new EntraGroups(graph.url, new UpstreamHttp(new Runtime(), DIRECT)).of('token');

  it('reads page after page, and counts only groups', async () => {
    const roles = [{ '@odata.type': '#microsoft.graph.directoryRole', id: 'r' }, null];
    pages = [
      page(['a', 'b'], `${graph.url}/v1.0/me/transitiveMemberOf?page=1`),
      page(['c'], `${graph.url}/v1.0/me/transitiveMemberOf?page=2`),
      { status: 200, json: { value: [...roles, { '@odata.type': GROUP, id: 'd' }] } },
    ];
    expect(await read()).toEqual(['a', 'b', 'c', 'd']);
    expect(tokens).toEqual(['Bearer token', 'Bearer token', 'Bearer token']);
  });

  it.each<[string, Answer | Fault, string]>([
    ['401', 'unauthorized', '401'],
    ['403', 'forbidden', '403'],
    ['a code', refusalWith('Authorization_RequestDenied'), 'Authorization_RequestDenied'],
    ['text in place of a code', refusalWith('alice@acme.example has none'), '403'],
  ])('reports to the operator a token that is refused with %s', async (_name, answer, detail) => {
    pages = [page(['a'], `${graph.url}/v1.0/me/transitiveMemberOf?page=1`), answer];
    await expect(read()).rejects.toMatchObject({ failure: 'groups_refused', detail });
  });

  it('sends the token to no other address', async () => {
    const other = await startLocalServer(() => page(['stolen']));
    pages = [page(['a'], `${other.url}/v1.0/me/transitiveMemberOf`)];
    await expect(read()).rejects.toMatchObject({ failure: 'unexpected_answer' });
    await other.close();
  });

  it.each<[string, Answer | Fault]>([
    ['html', 'html'],
    ['no list', { status: 200, json: {} }],
    ['404', 'not-found'],
  ])('fails with %s', async (_name, answer) => {
    pages = [answer];
    await expect(read()).rejects.toMatchObject({ failure: 'unexpected_answer' });
  });

  it('ends a loop of pages', async () => {
    pages = [page(['a'], `${graph.url}/v1.0/me/transitiveMemberOf`)];
    await expect(read()).rejects.toMatchObject({ failure: 'unexpected_answer' });
    expect(tokens).toHaveLength(50);
  });
});
