export type { AuthAction, AuthMethod, AuthMode } from '../policy/auth-methods.js';
export type { Content } from '../policy/content.js';
export type { AccountMode, KeyMode, StoragePolicy } from '../policy/storage-policy.js';
export type * from './api-client-answers.js';
export { parseServerUrl, type TransportOptions } from './api-client-transport.js';
export { GatehouseClient } from './api-client.js';
export type { AnswerOf, RequestOf, Route } from './api-routes.js';
export * from './auth-choices.js';
export * from './connect-updates.js';
export * from './device-approval.js';
export { DeviceKey, type DeviceKeyJwk } from './device-key.js';
export * from './device-link.js';
export {
  DeviceSealError,
  makeDeviceSecrets,
  openSealedSecret,
  sealForDevice,
  type DeviceSecrets,
} from './device-sealing.js';
export type { ExternalFinish, ExternalStart } from './external-routes.js';
export { ChallengeRefused, checkLoginChallenge, type ChallengeRefusal } from './login-challenge.js';
export * from './login-proof.js';
export * from './notification-actions.js';
export * from './notification-platform.js';
export * from './notification-presentation.js';
export * from './notification-routing.js';
export * from './notification-target.js';
export * from './oauth-return.js';
export { GatehouseProblem, ServerUnreachable } from './problem.js';
export * from './provisioning-choice.js';
export * from './push-registration.js';
export * from './request-previews.js';
export type { UpdateGap } from './update-sequence.js';
