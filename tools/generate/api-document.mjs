import { createAdminApp } from '../../dist/admin/create-admin-app.js';
import { buildAdminDocument, buildApiDocument } from '../../dist/api-document.js';
import { resolveSettings } from '../../dist/config/resolve-settings.js';
import { createApp } from '../../dist/create-app.js';

/** Nothing connects before the application is initialised, which never happens here. */
const ENVIRONMENT = {
  DATABASE_URL: 'postgres://none@127.0.0.1:1/nothing',
  SERVICE_MASTER_SECRET: 'only-there-to-be-accepted-as-a-secret',
  SERVICE_LOG_LEVEL: 'error',
  SERVICE_DOCS_ENABLED: 'false',
  SERVICE_ACCOUNT_PAGE_ENABLED: 'false',
};

/**
 * docs/openapi.json and docs/admin-openapi.json as they should be: the documents of the routes under
 * the default settings.
 *
 * @returns {Promise<import('./files.mjs').GeneratedFile[]>}
 */
export async function apiDocumentFiles() {
  const app = await createApp(resolveSettings(ENVIRONMENT).settings);
  const admin = await createAdminApp(app, { tls: null, requestsPerMinute: 1, console: null });
  try {
    return [
      fileOf('openapi.json', buildApiDocument(app)),
      fileOf('admin-openapi.json', buildAdminDocument(admin)),
    ];
  } finally {
    await admin.close();
    await app.close();
  }
}

function fileOf(name, document) {
  return {
    location: new URL(`../../docs/${name}`, import.meta.url),
    text: `${JSON.stringify(document, null, 2)}\n`,
  };
}
