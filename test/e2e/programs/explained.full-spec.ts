import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import {
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
} from '../../fixtures/programs-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { logIn } from '../../helpers/client.js';

const setup = backends([{ id: 'notes', name: 'Notes', programs: PROGRAMS }]);
const [store, tokens] = await Promise.all([createStore(), AdminTokensFile.create()]);
const configuration = { ...setup.env, ...PROGRAM_ENV };
const server = await startServer({ store, env: { ...configuration, ...tokens.env } });
const adminUrl = await adminUrlOf(server);
const admin = new AdminCalls(adminUrl, tokens.operator);
afterAll(async () => {
  await server.stop();
  await store.drop();
});

describe('gatehouse policy explain (needs PostgreSQL)', () => {
  const user = useCliUser();

  it.each([
    ['on the database', { ...configuration, ...store.env }],
    [
      'through the server',
      { GATEHOUSE_ADMIN_URL: adminUrl, GATEHOUSE_ADMIN_TOKEN: tokens.operator },
    ],
  ])('names the programs of an account until they end, %s', async (_where, env) => {
    const { token, accountId } = await logIn(server);
    const explain = async (): Promise<string> => {
      const { code, stdout, stderr } = await user.run(['policy', 'explain', accountId], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    expect(await explain()).not.toContain('programs act');
    await programTokens(server, token);
    await programTokens(server, token);
    expect(await explain()).toContain(
      'Notes: programs act for the person there: Inspector (inspector).',
    );
    for (const { id } of await programsOf(server, token)) {
      await admin.remove(`${accountId}/programs/${id}`);
    }
    expect(await explain()).not.toContain('programs act');
  });
});
