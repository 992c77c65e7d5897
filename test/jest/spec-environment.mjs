import asyncHooks from 'node:async_hooks';
import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';
import * as cliProcesses from './cli-processes.mjs';
import { takeBrowser } from './kept-browser.mjs';
import * as keptDatabases from './kept-databases.mjs';
import { forbidReachingOut } from './pure-unit.mjs';
import * as serverProcesses from './server-processes.mjs';

const { AsyncLocalStorage } = asyncHooks;
const require = createRequire(import.meta.url);

/**
 * Jest makes an async storage for each spec and leaves it on, and all act at every promise: with 40
 * an `await` takes ten times as long.
 */
export default class SpecEnvironment extends TestEnvironment {
  #storages = [];
  #isUnit;
  #permitReachingOut = () => undefined;

  constructor(config, context) {
    super(config, context);
    this.#isUnit = context.testPath.endsWith('.spec.ts');
  }

  async setup() {
    await super.setup();
    if (this.#isUnit) {
      this.#permitReachingOut = forbidReachingOut();
    }
    const storages = this.#storages;
    Object.defineProperty(this.global, 'playwright', { get: () => require('playwright-core') });
    this.global.takeBrowser = takeBrowser;
    this.global.cliProcesses = cliProcesses;
    this.global.keptDatabases = keptDatabases;
    this.global.serverProcesses = serverProcesses;
    provide(
      class extends AsyncLocalStorage {
        constructor(...options) {
          super(...options);
          storages.push(this);
        }
      },
    );
  }

  async teardown() {
    provide(AsyncLocalStorage);
    this.#storages.forEach((storage) => storage.disable());
    this.#permitReachingOut();
    await super.teardown();
  }
}

/** The module has a getter without a setter from Node 22 on. */
function provide(storage) {
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
    value: storage,
    configurable: true,
    enumerable: true,
  });
}
