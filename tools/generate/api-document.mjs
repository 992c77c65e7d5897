import { buildApiDocument } from '../../dist/api-document.js';
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
 * docs/openapi.json as it should be: the document of the routes under the default settings.
 *
 * @returns {Promise<import('./files.mjs').GeneratedFile>}
 */
export async function apiDocumentFile() {
  const app = await createApp(resolveSettings(ENVIRONMENT).settings);
  try {
    const document = buildApiDocument(app);
    return {
      location: new URL('../../docs/openapi.json', import.meta.url),
      text: `${JSON.stringify(document, null, 2)}\n`,
    };
  } finally {
    await app.close();
  }
}
