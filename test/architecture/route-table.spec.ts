import { RequestMethod } from '@nestjs/common';
import { APP_GUARD, ModulesContainer, Reflector } from '@nestjs/core';
import { AuthenticationGuard } from '../../src/server/auth/authentication.guard.js';
import { routeAccessOf, type RouteAccess } from '../../src/server/auth/route-access.js';
import { resolveSettings } from '../../src/server/config/resolve-settings.js';
import { createApp } from '../../src/server/create-app.js';

/** Routes without an account, for clients without a token and for machines. */
const PUBLIC = [
  'DELETE /v1/auth/external/:provider/pending/:pending',
  'GET /livez',
  'GET /readyz',
  'GET /v1/auth/external/:provider/params',
  'GET /v1/auth/mtls/complete',
  'GET /v1/auth/mtls/start',
  'GET /v1/connect/certificate/complete',
  'GET /v1/features',
  'GET /v1/oauth/:provider/callback',
  'GET /v1/oauth/:provider/jwks',
  'POST /v1/auth',
  'POST /v1/auth/backchannel-logout/:provider',
  'POST /v1/auth/challenge',
  'POST /v1/auth/external/:provider/finalize',
  'POST /v1/auth/external/:provider/finalize-keyless',
  'POST /v1/auth/external/:provider/pending',
  'POST /v1/auth/mtls',
  'POST /v1/auth/mtls/claim',
  'POST /v1/auth/providers/github/webhook',
  'POST /v1/oauth/:provider/cancel',
  'POST /v1/signals/:provider',
  'POST /v1/signals/:provider/global-token-revocation',
  'POST /v2/auth/devices',
  'POST /v2/auth/devices/:id/token',
];

/** Routes with any valid token, which a person needs to leave `provider-required` (contract). */
const ANY_TOKEN = [
  'DELETE /v1/connect/certificate',
  'DELETE /v1/connect/external/:provider',
  'GET /v1/account/profile',
  'GET /v1/connect/certificate/start',
  'GET /v1/connect/external/:provider/params',
  'POST /v1/auth/logout',
  'POST /v1/auth/logout-everywhere',
  'POST /v1/connect/certificate',
  'POST /v1/connect/external/:provider/finalize',
];

interface Route {
  readonly name: string;
  readonly access: RouteAccess;
}

const { settings } = resolveSettings({
  DATABASE_URL: 'postgres://unused@127.0.0.1:1/none',
  // The timer of an attempt outlives the application, and Jest waits half a second for a worker.
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: '100',
  SERVICE_MASTER_SECRET: 'a secret that is only for this test',
  SERVICE_LOG_LEVEL: 'silent',
  SERVICE_DOCS_ENABLED: 'false',
  SERVICE_ACCOUNT_PAGE_ENABLED: 'false',
});
const app = await createApp(settings);
await app.init();
afterAll(() => app.close());

function pathOf(target: object): string {
  const path = Reflect.getMetadata('path', target) as string | string[] | undefined;
  return [path ?? ''].flat()[0] ?? '';
}

function routes(): Route[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return controllers.flatMap(({ metatype, instance }) => {
    const prototype = Object.getPrototypeOf(instance) as Record<string, unknown>;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const method: unknown =
        typeof handler === 'function' ? Reflect.getMetadata('method', handler) : undefined;
      if (typeof method !== 'number' || typeof handler !== 'function' || metatype === null) {
        return [];
      }
      const parts = [pathOf(metatype), pathOf(handler)].map((part) => part.replace(/^\/|\/$/g, ''));
      const access = routeAccessOf(app.get(Reflector), [handler, metatype]);
      return [{ name: `${RequestMethod[method]} /${parts.filter(Boolean).join('/')}`, access }];
    });
  });
}

describe('the route table', () => {
  const named = (access: RouteAccess): string[] =>
    routes()
      .filter((route) => route.access === access)
      .map(({ name }) => name)
      .sort();

  it('has only the public routes that are listed here', () => {
    expect(named('public')).toEqual(PUBLIC);
  });

  it('permits with any valid token only the routes that are listed here', () => {
    expect(named('any-token')).toEqual(ANY_TOKEN);
  });

  it('enforces the required providers on all other routes, of which there are some', () => {
    expect(named('eligible')).toContain('GET /v1/push-tokens');
    expect(named('eligible').length).toBeGreaterThan(10);
  });

  it('applies the guard to every route', () => {
    const guards = [...app.get(ModulesContainer).values()].flatMap((module) =>
      [...module.injectables.values(), ...module.providers.values()]
        .filter(({ name, token }) => String(token ?? name).startsWith(APP_GUARD))
        .map(({ instance }) => (instance as object).constructor),
    );
    expect(guards).toEqual([AuthenticationGuard]);
  });
});
