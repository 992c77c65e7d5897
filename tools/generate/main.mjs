import { writeFileSync } from 'node:fs';
import { apiDocumentFiles } from './api-document.mjs';
import { apiTypesFiles } from './api-types.mjs';
import { generatedFiles } from './files.mjs';

// Run by `npm run generate`, after the build. The types are made from the written documents.
for (const makeFiles of [generatedFiles, apiDocumentFiles, apiTypesFiles]) {
  for (const { location, text } of await makeFiles()) {
    writeFileSync(location, text);
  }
}
