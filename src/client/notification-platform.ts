import type { NotificationTopic } from './notification-target.js';

export interface AndroidChannel {
  /** What the sender puts in `channelId`. Android keeps a person's choices under it: never rename. */
  readonly id: string;
  readonly name: string;
  readonly importance: 'default' | 'high';
}

/** Channels of their own for permission and action requests (specification, Events 10). */
export const ANDROID_CHANNELS = {
  ready: { id: 'ready', name: 'Ready', importance: 'default' },
  permission_request: {
    id: 'permission-requests',
    name: 'Permission requests',
    importance: 'high',
  },
  user_action_request: { id: 'action-requests', name: 'Action requests', importance: 'high' },
} as const satisfies Record<NotificationTopic, AndroidChannel>;

const MAX_SUBTITLE_CHARACTERS = 64;
/** Control characters, and those that turn the direction of the text around them. */
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
  const characters = charactersOf(name);
  return characters.length > MAX_SUBTITLE_CHARACTERS
    ? `${characters.slice(0, MAX_SUBTITLE_CHARACTERS - 1).join('')}…`
    : name;
}

/** As a person counts them; by code points where the engine cannot tell, as React Native's Hermes. */
function charactersOf(text: string): string[] {
  const { Segmenter } = Intl as Partial<typeof Intl>;
  return Segmenter === undefined
    ? Array.from(text)
    : Array.from(new Segmenter().segment(text), ({ segment }) => segment);
}
