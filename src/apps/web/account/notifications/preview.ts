import {
  contentFor,
  ENGLISH,
  unmasked,
  type ContentSwitches,
} from '../../../../packages/notify/content/content.js';
import type {
  NotificationEvent,
  NotificationTopic,
  RequestDetails,
} from '../../../../packages/notify/content/notification-event.js';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import {
  webhookRequest,
  type WebhookRequest,
} from '../../../../packages/notify/webhook/webhook-request.js';
import { serverUrl } from '../../server.js';

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

function sampleOf(topic: NotificationTopic): NotificationEvent {
  return {
    id: 'test-1',
    topic,
    createdAt: Date.now(),
    serverUrl: serverUrl(),
    session: { sessionId: 'session-1', title: 'Fix the build' },
    request: REQUESTS[topic],
    messageText: 'All 42 tests pass.',
    metadata: { test: true },
  };
}

/** Renders the push notification of an event with the sender's code. */
export function previewOfPush(topic: NotificationTopic, switches: ContentSwitches) {
  return contentFor(sampleOf(topic), switches, ENGLISH, unmasked);
}

export function previewOfWebhook(
  topic: NotificationTopic,
  channel: WebhookChannel,
): WebhookRequest {
  const event = sampleOf(topic);
  return webhookRequest(event, contentFor(event, channel, ENGLISH, unmasked), channel);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns a shell script that sends a request like a sender, and reads the secret from its input.
 */
export function curlCommand({ url, body }: WebhookRequest, secret: string | undefined): string {
  const post = [
    `BODY=${quoted(body)}`,
    'ID="test-$(date +%s)" TIME="$(date +%s)"',
    ...(secret === undefined ? [] : signing(secret)),
    `curl -i ${quoted(url)} --data-binary "$BODY" \\`,
    "  -H 'content-type: application/json' \\",
    `  -H "webhook-id: $ID" -H "webhook-timestamp: $TIME"${secret === undefined ? '' : ' \\'}`,
    ...(secret === undefined ? [] : ['  -H "webhook-signature: v1,$SIGNATURE"']),
  ];
  return [...(secret === undefined ? [] : [`SECRET='…'`]), ...post].join('\n');
}

function signing(secret: string): string[] {
  const isEncoded = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
  const bytes = isEncoded ? '"${SECRET#whsec_}" | base64 -d' : '"$SECRET"';
  return [
    `KEY="$(printf %s ${bytes} | od -An -v -tx1 | tr -d ' \\n')"`,
    'SIGNATURE="$(printf %s "$ID.$TIME.$BODY" |',
    '  openssl dgst -sha256 -mac HMAC -macopt hexkey:"$KEY" -binary | base64)"',
  ];
}
