import { writeFileSync } from 'node:fs';
import { generatedFiles } from './generated-files.js';

for (const { location, text } of generatedFiles()) {
  writeFileSync(location, text);
}
