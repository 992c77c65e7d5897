import * as v from 'valibot';
import type { AuthMethod } from '../../../core/policy/admission/admission.js';
import type { AccountMode, StoragePolicy } from '../../../core/policy/operator-policy.js';
import { isContent, type Content } from '../../../core/protocol/content.js';
import { readBase64 } from '../../../core/protocol/base64.js';
import { readUserCode } from '../../../core/protocol/user-code.js';
import type { components } from './api-types.js';
import { readAuthMethods } from './auth-choices.js';
import { isRecord } from '../../../core/protocol/is-record.js';

type Schemas = components['schemas'];
type Routes = Schemas['Routes'];

/** Every route of the server as `METHOD /path/{parameter}`, from its OpenAPI document. */
export type Route = keyof Routes;

/** The answer of a route with status 200. */
export type AnswerOf<One extends Route> = One extends keyof ExactAnswers
  ? ExactAnswers[One]
  : Routes[One]['answer'];

/** Answers that are unions, which the OpenAPI document describes as one object. */
interface ExactAnswers {
  'POST /v2/account/settings': SettingsWrite;
  'POST /v1/account/encryption/migrate': SettingsWrite | { readonly success: true };
  'POST /v2/auth/devices/{id}/token': DeviceToken;
}

/** `GET /v1/features`, the part that clients decide by (contract, Discovery). */
export interface ServerFeatures {
  readonly features?: {
    /** Older servers take no requests. */
    readonly answers?: { readonly enabled: boolean };
    /** Absent where no backend accepts programs. */
    readonly programs?: { readonly enabled: boolean };
  };
  readonly capabilities: {
    readonly auth: {
      readonly methods: readonly AuthMethod[];
      readonly login?: {
        readonly requiredProviders?: readonly string[];
        readonly serverChallenge?: 'optional' | 'required';
      };
      readonly providers?: Readonly<Record<string, { readonly displayName: string }>>;
    };
    readonly encryption?: {
      readonly storagePolicy: StoragePolicy;
      readonly defaultAccountMode: AccountMode;
      readonly allowAccountOptOut?: boolean;
    };
    readonly server?: {
      readonly version: string;
      readonly apiVersions: readonly string[];
      /** Where refused people ask for help: an https or mailto: address, or a text. */
      readonly support?: string;
    };
  };
}

export type Challenge = Readonly<Schemas['Challenge']>;
export type SignedLogin = Readonly<
  Pick<Schemas['DeviceKeyLogin'], 'publicKey' | 'challenge' | 'signature'>
>;
export type LoginAnswer = Readonly<Omit<Schemas['LoginAnswer'], 'success'>>;
export type AccountProfile = Readonly<Schemas['AccountProfile']>;
export type AccountSession = Readonly<Schemas['Session']>;
export type SavedPushToken = Readonly<Schemas['PushToken']>;
export type Encryption = Readonly<Schemas['Encryption']>;

/** The answer of `POST /v2/auth/devices`: poll by `id`, show `userCode`. */
export type DeviceRequest = Readonly<Schemas['DeviceRequest']>;
export type WaitingDevice = Readonly<Schemas['WaitingDevice']>;
/** The state of a device request; the token is returned only once. */
export type DeviceToken = { readonly state: 'pending' | 'refused' } | ApprovedDevice;

export interface ApprovedDevice {
  readonly state: 'approved';
  readonly token: string;
  readonly accountId: string;
  /** The account, for `openApproval`. It is not there if the approving device is older. */
  readonly sealed?: string | null | undefined;
}

export interface StoredSettings {
  /** null before the first write. */
  readonly content: Content | null;
  /** Send it back as `expectedVersion`. */
  readonly version: number;
}

export interface StoredCredential {
  readonly service: string;
  readonly content: Content;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** No write takes place after a concurrent one: merge into its content and write again. */
export type SettingsWrite =
  | { readonly success: true; readonly version: number }
  | {
      readonly success: false;
      readonly error: 'version-mismatch';
      readonly currentVersion: number;
      readonly currentContent: Content | null;
    };

/** An event of `/v1/updates` (contract, Updates). */
export interface AccountUpdate {
  readonly id: string;
  /** Grows by one per account: a gap means that something was missed. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: { readonly t: string };
}

/** The document with `methods`; those of an older server come from its `signup.methods`. */
export function withMethods(answer: AnswerOf<'GET /v1/features'>): ServerFeatures {
  const features = answer as unknown as ServerFeatures;
  const { capabilities } = features;
  const methods = readAuthMethods(capabilities.auth);
  // An older server describes no providers: show its methods instead.
  const described = Array.isArray(capabilities.auth.methods)
    ? {}
    : Object.fromEntries(methods.map(({ method }) => [method, { displayName: method }]));
  const auth = { providers: described, ...capabilities.auth, methods };
  return { ...features, capabilities: { ...capabilities, auth } };
}

const account = { token: v.string(), accountId: v.string() };
const login = v.object(account);
const settingsWritten = v.object({ success: v.boolean() });
const encryption = v.object({ mode: v.picklist(['e2ee', 'plain']) });
/** An app opens it: another scheme could run a script in the app, or start another program. */
const address = v.object({ url: v.pipe(v.string(), v.check(isOfWeb)) });
const record = v.custom(isRecord);
const records = v.array(record);
/** Content of a third kind would be opened by a device that reads plain content only. */
const content = v.custom<Content>(isContent);
const credential = v.object({ service: v.string(), content });
const isUserCode = (text: string): boolean => readUserCode(text) !== null;
const isDeviceKey = (text: string): boolean => readBase64(text, 32, 32) !== null;
/** The id of a device request, which is part of a path. */
const deviceId = v.pipe(v.string(), v.regex(/^[\w-]+$/));

/** The fields that this kit reads of each answer; a newer server may send more. */
const ANSWERS: Partial<Record<Route, v.GenericSchema>> = {
  'GET /v1/features': v.object({
    capabilities: v.object({
      auth: v.union([
        v.object({ methods: v.array(v.unknown()) }),
        v.object({ signup: v.custom(isRecord) }),
      ]),
    }),
  }),
  'POST /v1/auth/challenge': v.object({ challenge: v.string() }),
  'POST /v1/auth': login,
  'POST /v1/auth/mtls': login,
  'POST /v1/auth/mtls/claim': login,
  'GET /v1/auth/external/{provider}/params': address,
  'POST /v1/auth/external/{provider}/finalize': login,
  'POST /v1/auth/external/{provider}/finalize-keyless': login,
  'GET /v1/connect/external/{provider}/params': address,
  'POST /v2/auth/devices': v.object({
    id: deviceId,
    // It is part of a link, in which more of it could be a key of the server's own.
    userCode: v.pipe(v.string(), v.check(isUserCode)),
    intervalSeconds: v.number(),
  }),
  'GET /v2/auth/devices/{id}': v.object({
    id: deviceId,
    publicKey: v.pipe(v.string(), v.check(isDeviceKey)),
    client: record,
  }),
  'POST /v2/auth/devices/{id}/token': v.variant('state', [
    v.object({ state: v.picklist(['pending', 'refused']) }),
    v.object({ state: v.literal('approved'), ...account, sealed: v.nullish(v.string()) }),
  ]),
  'GET /v1/account/profile': v.object({
    id: v.string(),
    identities: v.array(v.object({ provider: v.string(), eligibility: record })),
  }),
  'GET /v1/account/sessions': v.object({ sessions: records }),
  'GET /v1/push-tokens': v.object({ tokens: v.array(v.object({ token: v.string() })) }),
  'GET /v1/account/settings': v.object({ settingsVersion: v.number() }),
  'POST /v1/account/settings': settingsWritten,
  'GET /v2/account/settings': v.object({ content: v.nullable(content), version: v.number() }),
  'POST /v2/account/settings': settingsWritten,
  'GET /v1/account/encryption': encryption,
  'PATCH /v1/account/encryption': encryption,
  'POST /v1/account/encryption/migrate': settingsWritten,
  'GET /v1/account/credentials': v.object({ credentials: v.array(credential) }),
  'GET /v1/account/credentials/{service}': credential,
};

/** For routes without a schema, any record passes. */
export function answerOf<One extends Route>(route: One) {
  return (ANSWERS[route] ?? record) as v.GenericSchema<unknown, AnswerOf<One>>;
}

export const success = v.object({ success: v.literal(true) });

const sequence = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const hello = v.object({ accountId: v.string(), seq: sequence });
const update = v.object({ seq: sequence, body: v.object({ t: v.string() }) });

function isOfWeb(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function isHello(value: unknown): value is v.InferOutput<typeof hello> {
  return v.is(hello, value);
}

export function isUpdate(value: unknown): value is AccountUpdate {
  return v.is(update, value);
}
