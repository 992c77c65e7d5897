import { REQUEST_PREVIEWS_VARIABLE as VARIABLE } from '../../../packages/client/notifications/notification-display.js';
import { requestPreviewsOfBuild } from '../../../packages/notify/environment.js';
import type { ContentSwitches } from '../../../packages/notify/content/content.js';

/** Says which build this is, for the help of commands that send. */
export function describeBuild(): string {
  const { isOn, because } = previewsInEffect({ requestPreviews: true });
  return `Texts of requests are ${isOn ? 'shown where the switches are on' : 'not sent'}: ${because}.`;
}

/**
 * Returns the effective state of request previews, and what decides it.
 * @param switches of the account's pushes, or of one webhook
 */
export function previewsInEffect({ requestPreviews }: Pick<ContentSwitches, 'requestPreviews'>) {
  const { isBuiltIn, decidedBy } = requestPreviewsOfBuild();
  if (isBuiltIn && !requestPreviews) {
    return { isOn: false, because: 'the switch requestPreviews is off' };
  }
  const because = {
    variable: `${VARIABLE} is ${isBuiltIn ? 'on' : 'off'}`,
    'release-build': `releases send them only with ${VARIABLE}=1`,
    'development-build': 'this is a development build',
  }[decidedBy];
  return { isOn: isBuiltIn, because };
}
