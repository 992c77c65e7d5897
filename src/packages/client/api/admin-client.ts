import * as v from 'valibot';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { components } from './admin-types.js';
import { Transport, type TransportOptions } from './api-client-transport.js';
import { pathOf } from './path.js';
import { writeQuery } from './query.js';

type Schemas = components['schemas'];

export type AdminCaller = Readonly<Schemas['AdminCaller']>;
export type AdminAccount = Readonly<Schemas['AdministeredAccount']>;
export type AdminAccountPage = Readonly<Schemas['AccountPage']>;
export type ListedAccount = Readonly<Schemas['ListedAccount']>;
export type AdminAuditPage = Readonly<Schemas['AuditPage']>;
export type AdminAuditEvent = Readonly<Schemas['AuditEvent']>;
export type AdminOverview = Readonly<Schemas['Overview']>;
export type AdminLogins = Readonly<Schemas['LoginCounts']>;
export type AdminProviders = Readonly<Schemas['AdminProviders']>;
export type AdminResourceServers = Readonly<Schemas['AdminResourceServers']>;
export type AdminSignals = Readonly<Schemas['AdminSignals']>;
export type UnmatchedPage = Readonly<Schemas['UnmatchedPage']>;
export type AdminPolicy = Readonly<Schemas['AdminPolicy']>;
export type AdminPolicyVariables = Readonly<Schemas['PresentVariables']>;
export type AdminPlan = Readonly<Schemas['Plan']>;
export type AdminInvitation = Readonly<Schemas['Invitation']>;
export type AdminInvitationPage = Readonly<Schemas['InvitationPage']>;
export type NewInvitation = Readonly<Schemas['NewInvitation']>;
/** The code is shown once. */
export type CreatedInvitation = Readonly<Schemas['CreatedInvitation']>;
/** True if the account changed. */
export type AdminActAnswer = Readonly<Schemas['ActAnswer']>;

export type AdminAccountQuery = Readonly<Schemas['Routes']['GET /admin/v1/accounts']['query']>;
export type AdminAuditQuery = Readonly<Schemas['Routes']['GET /admin/v1/audit']['query']>;

export type AdminLoginsQuery = Readonly<Schemas['Routes']['GET /admin/v1/logins']['query']>;
export type UnmatchedQuery = Readonly<
  Schemas['Routes']['GET /admin/v1/signals/{provider}/unmatched']['query']
>;
export type AdminInvitationQuery = Readonly<
  Schemas['Routes']['GET /admin/v1/invitations']['query']
>;

/** Actions of an administrator on an account. */
export type AccountAct = 'disable' | 'enable' | 'revoke' | 'recheck' | 'delete';

/**
 * The administration API of a server (ADMIN_PORT). Rejects with GatehouseProblem when the server
 * refuses, and with ServerUnreachable when it does not answer. In a browser on the console's own origin
 * it works without a token, by the session's cookie.
 */
export class GatehouseAdmin {
  private readonly transport: Transport;

  constructor(options: TransportOptions) {
    this.transport = new Transport(options);
  }

  me(): Promise<AdminCaller> {
    return this.get('/me');
  }

  overview(): Promise<AdminOverview> {
    return this.get('/overview');
  }

  /** Returns one page; pass the `cursor` of its answer to read the next one. */
  accounts(query: AdminAccountQuery = {}): Promise<AdminAccountPage> {
    return this.get(`/accounts${writeQuery(query)}`);
  }

  account(id: string): Promise<AdminAccount> {
    return this.get(pathOf`/accounts/${id}`);
  }

  /** @param reason 1 to 200 characters, kept in the audit trail */
  act(id: string, act: AccountAct, reason: string): Promise<AdminActAnswer> {
    const path = pathOf`/accounts/${id}`;
    return act === 'delete'
      ? this.send('DELETE', path, { reason })
      : this.send('POST', `${path}/${act}`, { reason });
  }

  endSession(id: string, sessionId: string, reason: string): Promise<AdminActAnswer> {
    const path = pathOf`/accounts/${id}/sessions/${sessionId}`;
    return this.send('DELETE', path, { reason });
  }

  /** Ends the access of a program. */
  endProgram(id: string, grantId: string, reason: string): Promise<AdminActAnswer> {
    const path = pathOf`/accounts/${id}/programs/${grantId}`;
    return this.send('DELETE', path, { reason });
  }

  /** Returns one page; pass the `cursor` of its answer to read the next one. */
  audit(query: AdminAuditQuery = {}): Promise<AdminAuditPage> {
    return this.get(`/audit${writeQuery(query)}`);
  }

  logins(query: AdminLoginsQuery = {}): Promise<AdminLogins> {
    return this.get(`/logins${writeQuery(query)}`);
  }

  resourceServers(): Promise<AdminResourceServers> {
    return this.get('/resource-servers');
  }

  providers(): Promise<AdminProviders> {
    return this.get('/providers');
  }

  signals(): Promise<AdminSignals> {
    return this.get('/signals');
  }

  /** Returns one page; pass the `cursor` of its answer to read the next one. */
  unmatchedPeople(provider: string, query: UnmatchedQuery = {}): Promise<UnmatchedPage> {
    return this.get(`${pathOf`/signals/${provider}/unmatched`}${writeQuery(query)}`);
  }

  /**
   * Ends what the directory or an event refuses a person without an account.
   * @param name subject, external id, user name, e-mail address, or the id of the unmatched person
   * @param reason 1 to 200 characters, kept in the audit trail
   */
  endRefusal(provider: string, name: string, reason: string): Promise<AdminActAnswer> {
    const path = pathOf`/signals/${provider}/end-refusal`;
    return this.send('POST', path, { name, reason });
  }

  policy(): Promise<AdminPolicy> {
    return this.get('/policy');
  }

  /** Returns the variables that a plan may change, without secrets. */
  policyVariables(): Promise<AdminPolicyVariables> {
    return this.get('/policy/variables');
  }

  /** @param environment variables that would change */
  plan(environment: Readonly<Record<string, string>>): Promise<AdminPlan> {
    return this.send('POST', '/policy/plan', { environment });
  }

  createInvitation(invitation: NewInvitation): Promise<CreatedInvitation> {
    return this.send('POST', '/invitations', invitation);
  }

  /** Returns one page, newest first; pass the `cursor` of its answer to read the next one. */
  invitations(query: AdminInvitationQuery = {}): Promise<AdminInvitationPage> {
    return this.get(`/invitations${writeQuery(query)}`);
  }

  /** @param reason 1 to 200 characters, kept in the audit trail */
  revokeInvitation(id: string, reason: string): Promise<AdminActAnswer> {
    return this.send('DELETE', pathOf`/invitations/${id}`, { reason });
  }

  /** Ends the session of this browser. */
  async logout(): Promise<void> {
    await this.send('POST', '/logout', {});
  }

  private get<Answer>(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  private send<Answer>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Answer> {
    return this.transport.send(method, `/admin/v1${path}`, v.custom<Answer>(isRecord), {
      // Pages on other origins cannot send it.
      headers: { 'x-gatehouse-admin': '1' },
      ...(body !== undefined && { body }),
    });
  }
}
