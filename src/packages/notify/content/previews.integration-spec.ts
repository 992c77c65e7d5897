import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { RELEASE_BUILD } from '../../../../tools/build/release-build.mjs';
import type { NotifyOptions } from '../notify.js';
import { SenderFixture } from '../../../../test/fixtures/sender-fixture.js';
import {
  anEvent,
  aRequest,
  saved,
  settingsWith,
} from '../../../../test/fixtures/notification-fixture.js';

const VARIABLE = 'CLIENT_PUBLIC_REQUEST_PREVIEWS';
const GENERIC = 'Something needs your permission to go on.';

describe('Request previews of a program with the library', () => {
  const before = { ...process.env };
  let fixture: SenderFixture;
  beforeEach(async () => {
    fixture = await SenderFixture.start();
  });
  afterEach(async () => {
    process.env = { ...before };
    await fixture.close();
  });

  /** Returns the texts of a phone and a webhook under these variables. */
  const shown = async (variables: Record<string, string>, options?: NotifyOptions) => {
    Reflect.deleteProperty(process.env, VARIABLE);
    Object.assign(process.env, variables);
    const event = anEvent('permission_request', { request: aRequest({ command: 'rm -rf build' }) });
    const settings = settingsWith([{ url: fixture.receiver.url }]);
    await fixture.send(event, settings, saved('a'), options);
    const webhook = fixture.receiver.received[0]?.rawBody.toString() ?? '';
    return { push: fixture.service.accepted[0]?.body ?? '', webhook };
  };

  it.each<[Record<string, string>, NotifyOptions | undefined]>([
    [{ [VARIABLE]: '0' }, undefined],
    [{}, { requestPreviews: false }],
    [{ [VARIABLE]: '1' }, { requestPreviews: false }],
  ])('hides requests with %j and the options %j', async (variables, options) => {
    const { push, webhook } = await shown(variables, options);
    expect(push).toBe(GENERIC);
    expect(webhook).toContain(GENERIC);
    expect(webhook).toContain('"toolDetails":null');
    expect(`${push}${webhook}`).not.toContain('rm -rf');
  });

  it.each<[Record<string, string>, NotifyOptions | undefined]>([
    [{}, undefined],
    [{ NODE_ENV: 'production' }, undefined],
    [{ [VARIABLE]: '0' }, { requestPreviews: true }],
  ])('shows requests with %j and the options %j', async (variables, options) => {
    const { push, webhook } = await shown(variables, options);
    expect(push).toContain('rm -rf build');
    expect(webhook).toContain('rm -rf build');
  });

  it.each(['permission_request', 'user_action_request'] as const)(
    'names the tool when nothing else can be shown, in a %s',
    async (topic) => {
      const request = aRequest({ owner: 'acme', issue: 7 }, 'mcp__tracker__close');
      const settings = settingsWith([{ url: fixture.receiver.url }]);
      const send = (requestPreviews: boolean) =>
        fixture.send(anEvent(topic, { request }), settings, saved('a'), { requestPreviews });
      await send(true);
      await send(false);
      const bodies = fixture.service.accepted.map(({ body }) => body);
      expect(bodies[0]).toMatch(/^mcp__tracker__close (needs your permission|is waiting for your)/);
      expect(bodies[1]).not.toContain('mcp__tracker__close');
      expect(fixture.receiver.json).toMatchObject({
        content: { body: bodies[1] },
        request: { toolName: 'mcp__tracker__close', toolDetails: null },
      });
    },
  );

  it.each([
    ['', false],
    ['0', false],
    ['1', true],
  ])("follows a bundler's define in a release: variable %j: %s", async (value, expected) => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('../environment.ts', import.meta.url)),
      platform: 'node',
      transform: {
        define: {
          ...RELEASE_BUILD,
          [`process.env.${VARIABLE}`]: JSON.stringify(value),
        },
      },
    });
    const { output } = await bundle.generate({
      ...{ format: 'iife', name: 'build' },
      // The default is a regular expression, and the linker does not recognise one of the realm of
      // Jest.
      sourcemapIgnoreList: false,
    });
    await bundle.close();
    // There is no `process`, so an expression that was not replaced would fail.
    const context = createContext({});
    runInContext(output[0].code, context);
    expect(runInContext('build.requestPreviewsOfBuild().isBuiltIn', context)).toBe(expected);
  });
});

describe('Secrets in the text of a notification', () => {
  let fixture: SenderFixture;
  beforeEach(async () => {
    fixture = await SenderFixture.start();
  });
  afterEach(() => fixture.close());

  const command = 'curl -H "Authorization: Bearer s3cr3t-v4lue" https://bob:hunter2@api.example';

  /** The title, tool and input of a request, and the message of a turn, with secrets in each. */
  const sendBoth = async (options?: NotifyOptions): Promise<string> => {
    const settings = settingsWith([{ url: fixture.receiver.url, readyIncludeMessageText: true }]);
    const session = { sessionId: 's', title: 'Set password=hunter2' };
    const request = { ...aRequest({ command }), toolName: 'token=hunter2' };
    const messageText = 'I have set api_key=hunter2';
    const ready = anEvent('ready', { session, messageText });
    await fixture.send(anEvent('permission_request', { session, request }), settings, saved('a'), {
      requestPreviews: true,
      ...options,
    });
    await fixture.send(ready, settings, [], options);
    const webhooks = fixture.receiver.received.map(({ rawBody }) => rawBody.toString());
    return [JSON.stringify(fixture.service.accepted), ...webhooks].join('\n');
  };

  it('masks secrets in pushes and webhooks', async () => {
    const sent = await sendBoth();
    expect(fixture.receiver.received).toHaveLength(2);
    expect(sent).not.toMatch(/hunter2|s3cr3t/);
    expect(fixture.service.accepted[0]?.body).toContain('Bearer [masked]');
    expect(sent).toContain('I have set api_key=[masked]');
    expect(sent).toContain('Set password=[masked]');
  });

  it('keeps secrets if the program sets maskSecrets to false', async () => {
    const sent = await sendBoth({ maskSecrets: false });
    expect(sent).toContain('s3cr3t-v4lue');
    expect(sent).toContain('api_key=hunter2');
  });
});
