import {
  contentFor,
  ENGLISH,
  unmasked,
  type ContentSwitches,
} from '../../../../packages/notify/content/content.js';
import { buildPreviews } from '../../../../packages/client/notifications/notification-display.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../../../packages/notify/content/notification-event.js';
import { sampleEvent } from '../../../../packages/notify/content/sample-event.js';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import {
  webhookRequest,
  type WebhookRequest,
} from '../../../../packages/notify/webhook/webhook-request.js';
import { serverUrl } from '../../server.js';

const sampleOf = (topic: NotificationTopic): NotificationEvent =>
  sampleEvent(topic, { id: 'test-1', serverUrl: serverUrl(), createdAt: Date.now() });

const { CLIENT_PUBLIC_REQUEST_PREVIEWS } = import.meta.env;

/** The switch of this build, which senders of the same build have too. */
export const { isBuiltIn: PREVIEWS_OF_BUILD } = buildPreviews({
  isDevelopmentBuild: import.meta.env.DEV,
  variables: { CLIENT_PUBLIC_REQUEST_PREVIEWS },
});

/** @param isBuiltIn the switch of the sender's build, which counts before those of the account */
const under = <Switches extends ContentSwitches>(switches: Switches, isBuiltIn: boolean) => ({
  ...switches,
  requestPreviews: isBuiltIn && switches.requestPreviews,
});

/** Renders the push notification of an event as a sender of this build. */
export function previewOfPush(topic: NotificationTopic, switches: ContentSwitches) {
  const shown = under(switches, PREVIEWS_OF_BUILD);
  return contentFor(sampleOf(topic), shown, ENGLISH, unmasked);
}

/** Renders the delivery of an event as a sender with this switch of its build. */
export function previewOfWebhook(
  topic: NotificationTopic,
  channel: WebhookChannel,
  isBuiltIn: boolean,
): WebhookRequest {
  const event = sampleOf(topic);
  const content = contentFor(event, under(channel, isBuiltIn), ENGLISH, unmasked);
  return webhookRequest(event, content, channel);
}

/** Returns an argument of a command: ids are texts of any client of the account, which a shell must not run. */
export const argument = (text: string): string => (/^[\w.-]+$/.test(text) ? text : quoted(text));

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
