export type { Access } from './access.js';
export { AccessRefused, type RefusalCode } from './access-refused.js';
export { accessOf } from './adapters/credentials.js';
export { createGuard } from './create-guard.js';
export type { ProtectedResourceMetadata } from './access-gate.js';
export type { Ended, Guard } from './guard.js';
export type { GuardClient, GuardLogEntry, GuardOptions, GuardRuntime } from './guard-options.js';
export type { EndReason } from './held-connections.js';
