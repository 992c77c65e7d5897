import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RequestMethod } from '@nestjs/common';
import { APP_GUARD, ModulesContainer } from '@nestjs/core';
import { AuthenticationGuard } from '../src/auth/authentication.guard.js';
import { ProviderRequiredGuard } from '../src/auth/provider-required.guard.js';
import { ROUTE_ACCESS, type RouteAccess } from '../src/auth/route-access.js';
import { resolveSettings } from '../src/config/resolve-settings.js';
import { createApp } from '../src/create-app.js';

/** Without an account: what a client needs before it has a token, and what machines ask. */
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
  'POST /v1/auth/mtls',
  'POST /v1/auth/mtls/claim',
  'POST /v1/auth/providers/github/webhook',
  'POST /v1/oauth/:provider/cancel',
  'POST /v2/auth/devices',
  'POST /v2/auth/devices/:id/token',
];

/** Any good token: what a person needs to get out of `provider-required` (contract). */
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

let app: NestFastifyApplication;

beforeAll(async () => {
  const { settings } = resolveSettings({
    DATABASE_URL: 'postgres://unused@127.0.0.1:1/none',
    SERVICE_MASTER_SECRET: 'a secret that is only for this test',
    SERVICE_LOG_LEVEL: 'silent',
    SERVICE_DOCS_ENABLED: 'false',
    SERVICE_ACCOUNT_PAGE_ENABLED: 'false',
  });
  app = await createApp(settings);
  await app.init();
});
afterAll(() => app.close());

function pathOf(target: object): string {
  const path = Reflect.getMetadata('path', target) as string | string[] | undefined;
  return [path ?? ''].flat()[0] ?? '';
}

/** Every route that Nest serves, with who it is for, from the controllers themselves. */
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
      const own: unknown = Reflect.getMetadata(ROUTE_ACCESS, handler);
      const access = (own ??
        Reflect.getMetadata(ROUTE_ACCESS, metatype) ??
        'eligible') as RouteAccess;
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

  it('has no public routes but those listed here', () => {
    expect(named('public')).toEqual(PUBLIC);
  });

  it('opens to any good token what is listed here, and nothing else', () => {
    expect(named('any-token')).toEqual(ANY_TOKEN);
  });

  it('enforces the required providers on all the rest, of which there are some', () => {
    expect(named('eligible')).toContain('GET /v1/push-tokens');
    expect(named('eligible').length).toBeGreaterThan(10);
  });

  it('has both guards before every route', () => {
    const guards = [...app.get(ModulesContainer).values()].flatMap((module) =>
      [...module.injectables.values(), ...module.providers.values()]
        .filter(({ name, token }) => String(token ?? name).startsWith(APP_GUARD))
        .map(({ metatype }) => metatype),
    );
    expect(guards).toEqual([AuthenticationGuard, ProviderRequiredGuard]);
  });
});
