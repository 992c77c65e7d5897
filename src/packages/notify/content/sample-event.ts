import type { NotificationEvent, NotificationTopic, RequestDetails } from './notification-event.js';

const NOTHING: RequestDetails = {
  command: null,
  filePath: null,
  explanation: null,
  questions: [],
  plan: null,
  historyImport: null,
  url: null,
  searchQuery: null,
};
const REQUESTS: Readonly<Record<NotificationTopic, NotificationEvent['request']>> = {
  ready: null,
  permission_request: {
    requestId: 'request-1',
    toolName: 'Bash',
    details: { ...NOTHING, command: 'npm test' },
  },
  user_action_request: {
    requestId: 'request-2',
    toolName: 'AskUserQuestion',
    details: {
      ...NOTHING,
      questions: [
        {
          text: 'Which branch is released?',
          options: [
            { label: 'main', description: null },
            { label: 'next', description: 'with the new page' },
          ],
          allowsSeveral: false,
          allowsCustomAnswer: true,
        },
      ],
    },
  },
};

/** Returns an example of each kind of event, for tests and for previews of a person's switches. */
export function sampleEvent(
  topic: NotificationTopic,
  facts: Pick<NotificationEvent, 'id' | 'serverUrl' | 'createdAt'>,
): NotificationEvent {
  return {
    ...facts,
    topic,
    session: { sessionId: 'session-1', title: 'Fix the build' },
    request: REQUESTS[topic],
    messageText: topic === 'ready' ? 'All 42 tests pass.' : null,
    metadata: { test: true },
  };
}
