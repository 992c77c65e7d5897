import { DEV_PUSH_VARIABLE } from '../../../packages/client/notifications/notification-display.js';
import { CliError } from '../cli-error.js';
import { buildProgram } from '../program.js';

/** Adds a token without a login, in a build that is compiled from a checkout. @returns the refusal */
async function refusalOf(): Promise<string | undefined> {
  const silent = { write: () => true } as unknown as NodeJS.WriteStream;
  const program = buildProgram({
    environment: { XDG_CONFIG_HOME: '/nowhere' },
    streams: { out: silent, error: silent },
    exitCode: 0,
  });
  const args = ['tokens', 'add', 'my-push-token', '--server', 'http://127.0.0.1:1'];
  return program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => (error instanceof CliError ? error.facts.code : String(error)),
  );
}

describe('tokens add', () => {
  afterEach(() => delete process.env[DEV_PUSH_VARIABLE]);

  it('saves no token in a development build', async () => {
    expect(await refusalOf()).toBe('development-build');
  });

  it('goes on in a development build whose variable allows it', async () => {
    process.env[DEV_PUSH_VARIABLE] = '1';
    expect(await refusalOf()).toBe('not-logged-in');
  });
});
