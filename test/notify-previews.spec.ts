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

  it.each([
    ['production', '', false],
    ['production', '1', true],
    ['development', '', true],
    ['development', '0', false],
  ])("follow a bundler's define: NODE_ENV %j, variable %j: %s", async (mode, value, expected) => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('../src/notify/build.ts', import.meta.url)),
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
