import { fileURLToPath } from 'node:url';

/**
 * Copied by the build from swagger-ui-dist: that package depends on one that reports installations
 * to a third party. The path is the same from src and from dist.
 */
export const DOCUMENTATION_FILES = fileURLToPath(
  new URL('../../dist/bin/swagger-ui', import.meta.url),
);
