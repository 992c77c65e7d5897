import * as v from 'valibot';

const TEXTS = { title: v.string(), body: v.string() };
const SESSION = v.looseObject({ sessionId: v.string(), title: v.string() });
const REQUEST = {
  requestId: v.string(),
  toolName: v.string(),
  toolDetails: v.nullable(v.string()),
};
const COMMON = {
  channelId: v.string(),
  createdAt: v.number(),
  content: v.looseObject(TEXTS),
  session: SESSION,
  metadata: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
};

/** Unknown fields are kept, because later versions may add some. */
const PAYLOAD = v.variant('topic', [
  v.looseObject({ ...COMMON, topic: v.literal('ready'), request: v.null() }),
  v.looseObject({
    ...COMMON,
    topic: v.literal('permission_request'),
    request: v.looseObject({ ...REQUEST, kind: v.literal('permission') }),
  }),
  v.looseObject({
    ...COMMON,
    topic: v.literal('user_action_request'),
    request: v.looseObject({ ...REQUEST, kind: v.literal('user_action') }),
  }),
]);

/** The body of a delivery (specification, Webhook delivery payload), by its `topic`. */
export type WebhookPayload = v.InferOutput<typeof PAYLOAD>;

/** Returns the payload in a body; null for a body of another form. */
export function readPayload(rawBody: Uint8Array): WebhookPayload | null {
  try {
    const { success, output } = v.safeParse(PAYLOAD, JSON.parse(Buffer.from(rawBody).toString()));
    return success ? output : null;
  } catch {
    return null;
  }
}
