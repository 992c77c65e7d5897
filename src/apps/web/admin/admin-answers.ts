import type { AdminAccount, AdminProviders } from '../../../packages/client/api/admin-client.js';

export type AdminProvider = AdminProviders['providers'][number];
export type AdminIdentity = AdminAccount['identities'][number];
export type AdminProgram = NonNullable<AdminAccount['programs']>[number];
export type AdminSession = AdminAccount['sessions'][number];
