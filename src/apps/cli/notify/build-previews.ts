import { REQUEST_PREVIEWS_VARIABLE as VARIABLE } from '../../../packages/client/notifications/notification-display.js';
import { requestPreviewsOfBuild } from '../../../packages/notify/environment.js';
import type { ContentSwitches } from '../../../packages/notify/content/content.js';

/** The effective state of request previews, and the switch that decides it. */
interface PreviewsInEffect {
  readonly isOn: boolean;
  readonly because: string;
}

/** Says which build this is, for the help of commands that send. */
export function describeBuild(): string {
  const { isOn, because } = previewsInEffect({ requestPreviews: true });
  return `Texts of requests are ${isOn ? 'shown where the switches are on' : 'not sent'}: ${because}.`;
}

/** @param switches of the account's pushes, or of one webhook */
export function previewsInEffect({
  requestPreviews,
}: Pick<ContentSwitches, 'requestPreviews'>): PreviewsInEffect {
  const { isBuiltIn, decidedBy } = requestPreviewsOfBuild();
  if (isBuiltIn && !requestPreviews) {
    return { isOn: false, because: 'the switch requestPreviews is off' };
  }
  const because = {
    variable: `${VARIABLE} is ${isBuiltIn ? 'on' : 'off'}`,
    'release-build': `this is a release, and ${VARIABLE} is not 1`,
    'development-build': 'this is a development build',
  }[decidedBy];
  return { isOn: isBuiltIn, because };
}
