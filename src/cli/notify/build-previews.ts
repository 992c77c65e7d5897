import {
  buildPreviews,
  REQUEST_PREVIEWS_VARIABLE as VARIABLE,
} from '../../client/notifications/notification-display.js';
import type { Preferences } from '../../notify/preferences.js';
import type { CliContext } from '../command.js';

/** Whether pushes show what a request is about, and which of the switches decides that. */
export interface PreviewsInEffect {
  readonly isOn: boolean;
  readonly because: string;
}

/** The switch of the build counts for webhooks too, which have one of their own beside it. */
export function previewsInEffect(
  { environment }: Pick<CliContext, 'environment'>,
  { push }: Pick<Preferences, 'push'>,
): PreviewsInEffect {
  const { isBuiltIn, decidedBy } = buildPreviews(environment);
  if (isBuiltIn && !push.requestPreviews) {
    return { isOn: false, because: 'the preference requestPreviews is off' };
  }
  const because = {
    variable: `${VARIABLE} is ${isBuiltIn ? 'on' : 'off'}`,
    'production-build': `NODE_ENV is production, and ${VARIABLE} is not 1`,
    'development-build': 'NODE_ENV is not production',
  }[decidedBy];
  return { isOn: isBuiltIn, because };
}
