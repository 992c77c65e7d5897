import { writeFileSync } from 'node:fs';
import { apiDocumentFile } from './api-document-file.js';

const { location, text } = await apiDocumentFile();
writeFileSync(location, text);
