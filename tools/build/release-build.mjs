/**
 * Constants of the linked programs and the packages: a release shows no request previews by default
 * (docs/notifications.md).
 */
export const RELEASE_BUILD = { 'process.env.GATEHOUSE_RELEASE_BUILD': '"true"' };
