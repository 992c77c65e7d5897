import { writeFileSync } from 'node:fs';
import { apiDocumentFiles } from './api-document.mjs';
import { generatedFiles } from './files.mjs';

// Run by `npm run generate`, after the build.
for (const { location, text } of [...generatedFiles(), ...(await apiDocumentFiles())]) {
  writeFileSync(location, text);
}
