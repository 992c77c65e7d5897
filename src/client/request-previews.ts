import { isRecord } from './problem.js';

/** Who has a say in whether a request's command, path or question is shown. */
export interface PreviewFacts {
  /** Request previews come with development builds: the switch of the build itself. */
  readonly isBuiltIn: boolean;
  /** `notificationsSettingsV1`, or one entry of `notificationChannelsV1`, as it was stored. */
  readonly settings: unknown;
  /** The switch of this device alone. */
  readonly isOnForDevice: boolean;
}

/** Previews need the build, the account and the device (specification, Notification preferences). */
export function showsRequestPreview({ isBuiltIn, settings, isOnForDevice }: PreviewFacts): boolean {
  return isBuiltIn && isOnForDevice && readRequestPreviews(settings);
}

/**
 * The preference as stored. On unless it says off: an older app that saves its settings drops the
 * field, and that means nobody decided against it (specification, Events 12).
 */
export function readRequestPreviews(settings: unknown): boolean {
  return !isRecord(settings) || settings['requestPreviews'] !== false;
}
