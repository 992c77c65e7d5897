import { createAdminApp } from '../../dist/server/admin/create-admin-app.js';
import {
  buildAdminDocument,
  buildApiDocument,
  buildBackendsDocument,
} from '../../dist/server/api-document.js';
import { resolveSettings } from '../../dist/server/config/resolve-settings.js';
import { createApp } from '../../dist/server/create-app.js';

/** The application is not initialised, so it never connects. */
const ENVIRONMENT = {
  DATABASE_URL: 'postgres://none@127.0.0.1:1/nothing',
  SERVICE_MASTER_SECRET: 'only-there-to-be-accepted-as-a-secret',
  SERVICE_LOG_LEVEL: 'error',
  SERVICE_DOCS_ENABLED: 'false',
  SERVICE_ACCOUNT_PAGE_ENABLED: 'false',
};

/** A server with a backend, whose routes no other server has. */
const WITH_BACKEND = {
  ...ENVIRONMENT,
  SERVICE_ACCOUNT_PAGE_ENABLED: 'true',
  SERVICE_PUBLIC_URL: 'https://gate.example.com',
  AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify([
    {
      id: 'relay',
      resource: 'https://relay.example.com',
      client: { jwksUri: 'https://relay.example.com/jwks' },
      programs: { checksScopes: true, scopes: { read: 'Read' }, initial: ['read'] },
    },
  ]),
};

/**
 * Returns docs/openapi.json under the default settings, and docs/admin-openapi.json and
 * docs/backends-openapi.json with a backend that accepts programs.
 *
 * @returns {Promise<import('./files.mjs').GeneratedFile[]>}
 */
export async function apiDocumentFiles() {
  const app = await createApp(resolveSettings(ENVIRONMENT).settings);
  const withBackend = await createApp(resolveSettings(WITH_BACKEND).settings);
  const admin = await createAdminApp(withBackend, {
    tls: null,
    requestsPerMinute: 1,
    trustedProxies: [],
    console: null,
  });
  try {
    return [
      fileOf('openapi.json', buildApiDocument(app)),
      fileOf('admin-openapi.json', buildAdminDocument(admin)),
      fileOf('backends-openapi.json', buildBackendsDocument(withBackend)),
    ];
  } finally {
    await admin.close();
    await app.close();
    await withBackend.close();
  }
}

function fileOf(name, document) {
  return {
    location: new URL(`../../docs/${name}`, import.meta.url),
    text: `${JSON.stringify(document, null, 2)}\n`,
  };
}
