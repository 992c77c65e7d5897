import { REQUEST_PREVIEWS_VARIABLE as VARIABLE } from '../../../packages/client/notifications/notification-display.js';
import { requestPreviewsOfBuild } from '../../../packages/notify/environment.js';
import type { Preferences } from '../../../packages/notify/preferences.js';

/** The effective state of request previews in pushes, and the switch that decides it. */
export interface PreviewsInEffect {
  readonly isOn: boolean;
  readonly because: string;
}

/** The switch of the build also applies to webhooks, which have a switch of their own. */
export function previewsInEffect({ push }: Pick<Preferences, 'push'>): PreviewsInEffect {
  const { isBuiltIn, decidedBy } = requestPreviewsOfBuild();
  if (isBuiltIn && !push.requestPreviews) {
    return { isOn: false, because: 'the preference requestPreviews is off' };
  }
  const because = {
    variable: `${VARIABLE} is ${isBuiltIn ? 'on' : 'off'}`,
    'release-build': `this is a release, and ${VARIABLE} is not 1`,
    'development-build': 'this is a development build',
  }[decidedBy];
  return { isOn: isBuiltIn, because };
}
