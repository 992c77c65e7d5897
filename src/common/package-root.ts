/** The package's folder: two levels above this module, as above its compiled and its linked form. */
export const PACKAGE_ROOT = new URL('../../', import.meta.url);
