import { isRecord } from '../../../core/protocol/is-record.js';
import {
  isSameServer,
  type NotificationTarget,
  type NotificationTopic,
} from './notification-routing.js';

/** In-app notifications while the app is open (specification, Notification preferences). */
export type ForegroundBehavior = 'full' | 'silent' | 'off';

/** The current screen of the app. */
export interface Screen {
  readonly isAppOpen: boolean;
  readonly behavior: ForegroundBehavior;
  /** The session on screen; null on any other screen. */
  readonly viewing: { readonly serverUrl: string; readonly sessionId: string } | null;
}

export interface Presentation {
  readonly showsBanner: boolean;
  readonly playsSound: boolean;
  readonly reason: 'shown' | 'silent' | 'off' | 'session-on-screen' | 'resolved';
}

const SHOWN: Presentation = { showsBanner: true, playsSound: true, reason: 'shown' };
const IN_APP: Readonly<Record<ForegroundBehavior, Presentation>> = {
  full: SHOWN,
  silent: { showsBanner: true, playsSound: false, reason: 'silent' },
  off: { showsBanner: false, playsSound: false, reason: 'off' },
};
const ON_SCREEN: Presentation = {
  showsBanner: false,
  playsSound: false,
  reason: 'session-on-screen',
};

const RESOLVED: Presentation = { showsBanner: false, playsSound: false, reason: 'resolved' };

/**
 * Returns the banner and sound of a notification: none for the session on screen (specification,
 * Events 9), nor for an answered request.
 */
export function presentNotification(target: NotificationTarget, screen: Screen): Presentation {
  const { isAppOpen, behavior, viewing } = screen;
  if (target.isResolved === true) {
    return RESOLVED;
  }
  if (!isAppOpen) {
    return SHOWN;
  }
  const isInView =
    viewing !== null &&
    viewing.sessionId === target.sessionId &&
    isSameServer(viewing.serverUrl, target.serverUrl);
  return isInView ? ON_SCREEN : IN_APP[behavior];
}

/** The setting as the account has it; missing or unknown means `full`. */
export function readForegroundBehavior(value: unknown): ForegroundBehavior {
  return value === 'silent' || value === 'off' ? value : 'full';
}

export interface AndroidChannel {
  /** `channelId` of the push. Android stores the user's settings under it: never rename. */
  readonly id: string;
  readonly name: string;
  readonly importance: 'low' | 'default' | 'high';
}

/** Permission and action requests have their own channels (specification, Events 10). */
export const ANDROID_CHANNELS = {
  ready: { id: 'ready', name: 'Ready', importance: 'default' },
  permission_request: {
    id: 'permission-requests',
    name: 'Permission requests',
    importance: 'high',
  },
  user_action_request: { id: 'action-requests', name: 'Action requests', importance: 'high' },
  /** Replaces the notification of an answered request, without a sound. */
  resolved: { id: 'resolved', name: 'Answered requests', importance: 'low' },
} as const satisfies Record<NotificationTopic | 'resolved', AndroidChannel>;

const MAX_SUBTITLE_CHARACTERS = 64;
/** Control characters, and those that change the text direction. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * The tool or request name for the line under the title on iOS; null where there is none to show
 * (specification, Events 10).
 */
export function iosSubtitle(topic: NotificationTopic, toolName: string | null): string | null {
  const name = (toolName ?? '').replace(INVISIBLE, ' ').trim();
  if (topic === 'ready' || name === '') {
    return null;
  }
  // It has at most as many characters as units, and splitting it loads data of the language.
  const characters = name.length > MAX_SUBTITLE_CHARACTERS ? charactersOf(name) : [];
  return characters.length > MAX_SUBTITLE_CHARACTERS
    ? `${characters.slice(0, MAX_SUBTITLE_CHARACTERS - 1).join('')}…`
    : name;
}

/** Grapheme clusters; code points where the engine has no Segmenter, such as Hermes. */
function charactersOf(text: string): string[] {
  const { Segmenter } = Intl as Partial<typeof Intl>;
  return Segmenter === undefined
    ? Array.from(text)
    : Array.from(new Segmenter().segment(text), ({ segment }) => segment);
}

/** The client variable that switches request previews of a build on (`1`) or off (`0`). */
export const REQUEST_PREVIEWS_VARIABLE = 'CLIENT_PUBLIC_REQUEST_PREVIEWS';

/** The build-level switch of request previews, and its source. */
export interface BuildPreviews {
  readonly isBuiltIn: boolean;
  readonly decidedBy: 'variable' | 'release-build' | 'development-build';
}

/**
 * Request previews are part of development builds (specification, Webhook channel and Events 4).
 * {@link REQUEST_PREVIEWS_VARIABLE} switches them on in a release and off in a development build.
 */
export function buildPreviews({ isDevelopmentBuild, variables }: BuildFacts): BuildPreviews {
  const value = variables[REQUEST_PREVIEWS_VARIABLE]?.trim().toLowerCase() ?? '';
  if ((isDevelopmentBuild ? OFF : ON).includes(value)) {
    return { isBuiltIn: !isDevelopmentBuild, decidedBy: 'variable' };
  }
  return isDevelopmentBuild
    ? { isBuiltIn: true, decidedBy: 'development-build' }
    : { isBuiltIn: false, decidedBy: 'release-build' };
}

const ON = ['1', 'true', 'on', 'yes'];
const OFF = ['0', 'false', 'off', 'no'];

/** The switches for showing a request's command, path or question. */
export interface PreviewFacts {
  /** The switch of the build: {@link buildPreviews}. */
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
 * The stored preference, on by default: an older app drops the field when it saves its settings
 * (specification, Events 12).
 */
export function readRequestPreviews(settings: unknown): boolean {
  return !isRecord(settings) || settings['requestPreviews'] !== false;
}

/** The client variable that lets development builds register (specification, Events 11). */
export const DEV_PUSH_VARIABLE = 'CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION';

export interface BuildFacts {
  readonly isDevelopmentBuild: boolean;
  /** The build's public variables: bundlers inline them, so the caller passes them. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Returns true if this build saves its push token on the server; in development builds `1` enables it. */
export function registersPushToken({ isDevelopmentBuild, variables }: BuildFacts): boolean {
  return !isDevelopmentBuild || variables[DEV_PUSH_VARIABLE] === '1';
}
