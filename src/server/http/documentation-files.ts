import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../common/package-root.js';

/**
 * Copied by the build from swagger-ui-dist: that package depends on one that reports installations
 * to a third party.
 */
export const DOCUMENTATION_FILES = fileURLToPath(new URL('dist/bin/swagger-ui', PACKAGE_ROOT));
