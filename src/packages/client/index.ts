export type { AuthAction, AuthMethod, AuthMode } from '../../core/policy/admission/admission.js';
export type { Content } from '../../core/protocol/content.js';
export type { AccountMode, KeyMode, StoragePolicy } from '../../core/policy/operator-policy.js';
export * from './api/admin-client.js';
export type * from './api/api-client-answers.js';
export {
  adoptPin,
  MemoryPins,
  pinMode,
  readPin,
  type AccountPin,
  type PinStore,
} from './settings/account-pin.js';
export { readCredential, writeCredential } from './settings/account-credentials.js';
export {
  acceptSettings,
  changeSettings,
  openSettings,
  readSettings,
  SettingsConflict,
  SettingsRefused,
  SettingsUnreadable,
  type Decrypt,
  type SettingsAccess,
  type SettingsContent,
  type SettingsFields,
  type SettingsKey,
  type SettingsRefusal,
  type SettingsWait,
} from './settings/account-settings.js';
export * from './settings/receivers.js';
export type { TransportOptions } from './api/api-client-transport.js';
export { GatehouseClient } from './api/api-client.js';
export type { AnswerOf, Route } from './api/api-client-answers.js';
export type { RequestOf } from './api/api-routes.js';
export {
  authChoices,
  chooseProvisioning,
  type AuthChoices,
  type MethodChoice,
  type ProviderChoice,
  type ProvisioningChoice,
} from './api/auth-choices.js';
export type {
  ExternalFinish,
  ExternalStart,
  KeyedFinish,
  SignUpOptions,
} from './api/login-routes.js';
export * from './api/oauth-return.js';
export * from './return-errors.js';
export { GatehouseProblem, ServerUnreachable, type RefusalCode } from './api/problem.js';
export { refusalReasonMessage } from './refusal-reasons.js';
export { parseServerUrl } from './api/server-url.js';
export {
  AccountContent,
  ContentUnreadable,
  type CredentialPurpose,
  type OpenedSettings,
  type SettingsMark,
} from './crypto/account-content.js';
export {
  DeviceKeyError,
  formatDeviceKey,
  OtherAccountKey,
  parseDeviceKey,
} from './crypto/key-text.js';
export { DeviceKey, type DeviceKeyJwk } from './crypto/device-key.js';
export {
  ChallengeRefused,
  checkLoginChallenge,
  type ChallengeRefusal,
} from './crypto/login-challenge.js';
export * from './crypto/login-proof.js';
export { deviceKeyWords, type DeviceIdentity } from '../../core/protocol/device-words.js';
export * from './devices/device-approval.js';
export * from './devices/device-link.js';
export { DeviceNotAdded, waitForApproval, type ApprovalWait } from './devices/device-routes.js';
export {
  DeviceSealError,
  makeDeviceSecrets,
  openApproval,
  sealAccount,
  type DeviceSealReason,
  type DeviceSecrets,
  type HandedAccount,
  type OpenedApproval,
  type SealedApproval,
} from './devices/device-sealing.js';
export { DeviceServerRefused, findDevice, requestDevice } from './devices/device-server.js';
export * from './notifications/notification-display.js';
export * from './notifications/notification-routing.js';
export * from './notifications/web-push.js';
export * from './notifications/web-push-key.js';
export {
  isAllowedRemotely,
  MAX_REQUEST_BYTES,
  type AgentRequest,
  type AskedOption,
  type AskedQuestion,
  type NotAllowed,
} from '../../core/protocol/agent-request.js';
export { isRequestId } from '../../core/protocol/request-id.js';
export type {
  AnswerChoice,
  AnswerMismatch,
  QuestionAnswer,
  RequestAnswer,
} from '../../core/protocol/request-answer.js';
export {
  browserRequestKeys,
  canKeepRequestKeys,
  importRequestKeys,
  type StoredRequestKeys,
} from './crypto/browser-request-keys.js';
export { requestKeys, type RequestKeys } from './crypto/request-keys.js';
export type { ListedRequest, RequestRoutes, StoredRequest } from './approvals/request-routes.js';
export * from './approvals/account-requests.js';
export type * from './approvals/allow-from-notification.js';
export * from './approvals/answer-from-notification.js';
export * from './approvals/answer-request.js';
export * from './approvals/ask-and-wait.js';
export * from './approvals/judge-answers.js';
export * from './approvals/marked-text.js';
export * from './approvals/show-request.js';
export * from './programs/program-host.js';
export type * from './programs/program-routes.js';
export {
  connectUpdates,
  UpdateConnection,
  type UpdateHandlers,
  type UpdateOptions,
  type UpdateScope,
} from './updates/connect-updates.js';
export type { UpdateGap } from './updates/update-sequence.js';
