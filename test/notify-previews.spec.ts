import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import type { NotifyOptions } from '../src/notify/notify.js';
import { SenderWorld } from './fakes/sender-world.js';
import { anEvent, aRequest, saved, settingsWith } from './fakes/webhook-account.js';

const VARIABLE = 'CLIENT_PUBLIC_REQUEST_PREVIEWS';
const GENERIC = 'Something needs your permission to go on.';

describe('Request previews of a program with the library', () => {
  const before = { ...process.env };
  let world: SenderWorld;
  beforeEach(async () => {
    world = await SenderWorld.start();
  });
  afterEach(async () => {
    process.env = { ...before };
    await world.close();
  });

  /** What a phone and a webhook get under these variables. */
  const shown = async (variables: Record<string, string>, options?: NotifyOptions) => {
    Reflect.deleteProperty(process.env, VARIABLE);
    Object.assign(process.env, variables);
    const event = anEvent('permission_request', { request: aRequest({ command: 'rm -rf build' }) });
    const settings = settingsWith([{ url: world.receiver.url }]);
    await world.send(event, settings, saved('a'), options);
    const webhook = world.receiver.received[0]?.rawBody.toString() ?? '';
    return { push: world.service.accepted[0]?.body ?? '', webhook };
  };

  it.each<[Record<string, string>, NotifyOptions | undefined]>([
    [{ NODE_ENV: 'production' }, undefined],
    [{ NODE_ENV: 'development', [VARIABLE]: '0' }, undefined],
    [{ NODE_ENV: 'development' }, { requestPreviews: false }],
  ])('are off with %j and the options %j', async (variables, options) => {
    const { push, webhook } = await shown(variables, options);
    expect(push).toBe(GENERIC);
    expect(webhook).toContain(GENERIC);
    expect(webhook).toContain('"toolDetails":null');
    expect(`${push}${webhook}`).not.toContain('rm -rf');
  });

  it.each<[Record<string, string>, NotifyOptions | undefined]>([
    [{ NODE_ENV: 'production', [VARIABLE]: '1' }, undefined],
    [{ NODE_ENV: 'development' }, undefined],
    [{ NODE_ENV: 'production' }, { requestPreviews: true }],
  ])('are on with %j and the options %j', async (variables, options) => {
    const { push, webhook } = await shown(variables, options);
    expect(push).toContain('rm -rf build');
    expect(webhook).toContain('rm -rf build');
  });

  it.each(['permission_request', 'user_action_request'] as const)(
    'name a tool of which nothing else can be shown, in a %s',
    async (topic) => {
      const request = aRequest({ owner: 'acme', issue: 7 }, 'mcp__tracker__close');
      const settings = settingsWith([{ url: world.receiver.url }]);
      const send = (requestPreviews: boolean) =>
        world.send(anEvent(topic, { request }), settings, saved('a'), { requestPreviews });
      await send(true);
      await send(false);
      const bodies = world.service.accepted.map(({ body }) => body);
      expect(bodies[0]).toMatch(/^mcp__tracker__close (needs your permission|is waiting for your)/);
      expect(bodies[1]).not.toContain('mcp__tracker__close');
      expect(world.receiver.json).toMatchObject({
        content: { body: bodies[1] },
        request: { toolName: 'mcp__tracker__close', toolDetails: null },
      });
    },
  );

  it.each([
    ['production', '', false],
    ['production', '1', true],
    ['development', '', true],
    ['development', '0', false],
  ])("follow a bundler's define: NODE_ENV %j, variable %j: %s", async (mode, value, expected) => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('../src/notify/environment.ts', import.meta.url)),
      platform: 'node',
      transform: {
        define: {
          'process.env.NODE_ENV': JSON.stringify(mode),
          [`process.env.${VARIABLE}`]: JSON.stringify(value),
        },
      },
    });
    const { output } = await bundle.generate({
      ...{ format: 'iife', name: 'build' },
      // The default is a regular expression, which the linker does not know when it is one of Jest's.
      sourcemapIgnoreList: false,
    });
    await bundle.close();
    // Without `process`: what was not replaced would fail.
    const context = createContext({});
    runInContext(output[0].code, context);
    expect(runInContext('build.arePreviewsBuiltIn()', context)).toBe(expected);
  });
});

describe('Secrets in what a notification shows', () => {
  let world: SenderWorld;
  beforeEach(async () => {
    world = await SenderWorld.start();
  });
  afterEach(() => world.close());

  const command = 'curl -H "Authorization: Bearer s3cr3t-v4lue" https://bob:hunter2@api.example';

  /** The title, tool and input of a request, and the message of a turn, with secrets in each. */
  const sendBoth = async (options?: NotifyOptions): Promise<string> => {
    const settings = settingsWith([{ url: world.receiver.url, readyIncludeMessageText: true }]);
    const session = { sessionId: 's', title: 'Set password=hunter2' };
    const request = { ...aRequest({ command }), toolName: 'token=hunter2' };
    const messageText = 'I have set api_key=hunter2';
    const ready = anEvent('ready', { session, messageText });
    await world.send(anEvent('permission_request', { session, request }), settings, saved('a'), {
      requestPreviews: true,
      ...options,
    });
    await world.send(ready, settings, [], options);
    const webhooks = world.receiver.received.map(({ rawBody }) => rawBody.toString());
    return [JSON.stringify(world.service.accepted), ...webhooks].join('\n');
  };

  it('are masked in pushes and webhooks', async () => {
    const sent = await sendBoth();
    expect(world.receiver.received).toHaveLength(2);
    expect(sent).not.toMatch(/hunter2|s3cr3t/);
    expect(world.service.accepted[0]?.body).toContain('Bearer [masked]');
    expect(sent).toContain('I have set api_key=[masked]');
    expect(sent).toContain('Set password=[masked]');
  });

  it('stay where the program asks for that', async () => {
    const sent = await sendBoth({ maskSecrets: false });
    expect(sent).toContain('s3cr3t-v4lue');
    expect(sent).toContain('api_key=hunter2');
  });
});
