import { randomUUID } from 'node:crypto';
import { contentFor, ENGLISH } from '../../../packages/notify/content/content.js';
import { maskSecrets } from '../../../packages/notify/content/mask-secrets.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../../packages/notify/content/notification-event.js';
import { sampleEvent } from '../../../packages/notify/content/sample-event.js';
import { readPreferences, type WebhookChannel } from '../../../packages/notify/preferences.js';
import { removeChannel } from '../../../packages/notify/settings-changes.js';
import { requireSession } from '../account/current-session.js';
import { EXIT, refusedError, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { previewsInEffect } from './build-previews.js';
import type { TestOptions } from './channels.command.js';
import { describeLine } from './report.js';
import { readSettings, refusing } from './settings-document.js';
import { deliverTest, testEvent } from './test-delivery.js';

interface Text {
  readonly title: string;
  readonly body: string;
}

const TOPICS: Readonly<Record<string, NotificationTopic>> = {
  ready: 'ready',
  permissionRequest: 'permission_request',
  userActionRequest: 'user_action_request',
};

/** Sends a test to a channel, also to a disabled one, and prints what was sent and what will be. */
export async function test(context: CliContext<TestOptions>): Promise<number> {
  const example = exampleOf(context.options.topic);
  const current = await requireSession(context);
  const channel = await channelOf(context, context.args[0] ?? '');
  const { server } = current.session;
  const event = example?.(server);
  const targets = { webPushKey: null, channels: [channel], tokens: [] };
  const [line] = await deliverTest(context, targets, event);
  if (line === undefined) {
    return EXIT.refused;
  }
  const plain = { ...channel, readyIncludeMessageText: true };
  const sent = event === undefined ? textOf(testEvent(server), plain) : textOf(event, channel);
  const request = textOf(sampleOf('permission_request', server), channel);
  const previews = previewsInEffect(channel);
  const later = example === undefined ? { request, requestPreviewsInEffect: previews } : {};
  const lines = [
    describeLine(line),
    ...indented(sent),
    ...(example === undefined ? ['A permission request arrives as:', ...indented(request)] : []),
    ...(previews.isOn || event?.topic === 'ready'
      ? []
      : [`Texts of requests are left out: ${previews.because}.`]),
  ];
  context.output.result({ ...line, sent, ...later }, lines.join('\n'));
  return line.state === 'sent' ? EXIT.ok : EXIT.refused;
}

function exampleOf(name: string | undefined): ((server: string) => NotificationEvent) | undefined {
  if (name === undefined) {
    return undefined;
  }
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (topic === undefined) {
    throw usageError(`"${name}" is not a topic. Topics: ${Object.keys(TOPICS).join(', ')}.`);
  }
  return (server) => sampleOf(topic, server);
}

const sampleOf = (topic: NotificationTopic, serverUrl: string): NotificationEvent =>
  sampleEvent(topic, { id: `test-${randomUUID()}`, serverUrl, createdAt: Date.now() });

async function channelOf(context: CliContext<TestOptions>, id: string): Promise<WebhookChannel> {
  const document = await readSettings(context, await requireSession(context));
  const { channels } = readPreferences(document.fields);
  const channel = channels.find((one) => one.id === id);
  if (channel === undefined) {
    refusing(() => removeChannel(document.fields, id));
    const hint = 'See what is wrong: gatehouse channels list';
    throw refusedError(`The channel ${id} is invalid.`, 'broken-channel', hint);
  }
  return channel;
}

/** Returns the texts of an event under the switches of the channel and of this build. */
function textOf(event: NotificationEvent, channel: WebhookChannel): Text {
  const { isOn: requestPreviews } = previewsInEffect(channel);
  const { title, body } = contentFor(event, { ...channel, requestPreviews }, ENGLISH, maskSecrets);
  return { title, body };
}

const indented = ({ title, body }: Text): string[] =>
  [title, ...body.split('\n')].map((line) => `  ${line}`);
