import { fileURLToPath } from 'node:url';

/**
 * The scripts and styles of the page at /docs, which the build copies from swagger-ui-dist: that
 * package depends on one that reports installations to a third party. The relative path is the same
 * from src and from dist.
 */
export const DOCUMENTATION_FILES = fileURLToPath(
  new URL('../../dist/bin/swagger-ui', import.meta.url),
);
