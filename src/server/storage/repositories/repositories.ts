import { AccountAdminRepository } from './account-admin.repository.js';
import { AccountCredentialsRepository } from './account-credentials.repository.js';
import { AccountSearchRepository } from './account-search.repository.js';
import { AccountSettingsRepository } from './account-settings.repository.js';
import { AccountRepository } from './account.repository.js';
import { AdministrationCountsRepository } from './administration-counts.repository.js';
import { AgentRequestRepository } from './approvals/agent-request.repository.js';
import { RequestAnswerRepository } from './approvals/request-answer.repository.js';
import { AuditRepository } from './audit.repository.js';
import { DeviceAuthorizationRepository } from './device-authorization.repository.js';
import { DirectoryLinkRepository } from './directory/directory-link.repository.js';
import { DirectoryNameRepository } from './directory/directory-name.repository.js';
import { DirectoryPersonRepository } from './directory/directory-person.repository.js';
import { IdentitySignalRepository } from './directory/identity-signal.repository.js';
import { OrganizationRepository } from './directory/organization.repository.js';
import { PersonRefusalRepository } from './directory/person-refusal.repository.js';
import { ExpiredRowsRepository } from './expired-rows.repository.js';
import { IdentityDueRepository } from './identity-due.repository.js';
import { IdentityRepository } from './identity.repository.js';
import { InvitationRepository } from './invitation.repository.js';
import { KeylessRepository } from './keyless.repository.js';
import { LiveAccessRepository } from './live-access.repository.js';
import { ClientAssertionRepository } from './oauth/client-assertion.repository.js';
import { EventRetentionRepository } from './oauth/event-retention.repository.js';
import { EventStatisticsRepository } from './oauth/event-statistics.repository.js';
import { EventStreamRepository } from './oauth/event-stream.repository.js';
import { ResourceJudgementRepository } from './oauth/resource-judgement.repository.js';
import { ResourceSessionRepository } from './oauth/resource-session.repository.js';
import { SecurityEventRepository } from './oauth/security-event.repository.js';
import { SigningKeyRepository } from './oauth/signing-key.repository.js';
import { ExternalFlowRepository, LoginChallengeRepository } from './one-time.repository.js';
import { ProgramApprovalRepository } from './programs/program-approval.repository.js';
import { ProgramGrantRepository } from './programs/program-grant.repository.js';
import { ProgramJudgementRepository } from './programs/program-judgement.repository.js';
import { ProgramTokenRepository } from './programs/program-token.repository.js';
import { PushTokenRepository } from './push-token.repository.js';
import { SessionCertificateRepository } from './session-certificate.repository.js';
import { SessionEndRepository } from './session-end.repository.js';
import { SessionRepository } from './session.repository.js';
import { ProviderLogoutRepository } from './signals/provider-logout.repository.js';
import { ProviderSignalRepository } from './signals/provider-signal.repository.js';
import { ReceivedEventRepository } from './signals/received-event.repository.js';
import { SignalStreamRepository } from './signals/signal-stream.repository.js';

/** All repositories, each with the statements of one subject. */
export const REPOSITORIES = [
  AccountAdminRepository,
  AccountCredentialsRepository,
  AccountRepository,
  AccountSearchRepository,
  AccountSettingsRepository,
  AdministrationCountsRepository,
  AgentRequestRepository,
  AuditRepository,
  ClientAssertionRepository,
  DeviceAuthorizationRepository,
  DirectoryLinkRepository,
  DirectoryNameRepository,
  DirectoryPersonRepository,
  EventRetentionRepository,
  EventStatisticsRepository,
  EventStreamRepository,
  ExpiredRowsRepository,
  ExternalFlowRepository,
  IdentityDueRepository,
  IdentityRepository,
  IdentitySignalRepository,
  InvitationRepository,
  KeylessRepository,
  LiveAccessRepository,
  LoginChallengeRepository,
  OrganizationRepository,
  PersonRefusalRepository,
  ProgramApprovalRepository,
  ProgramGrantRepository,
  ProgramJudgementRepository,
  ProgramTokenRepository,
  ProviderLogoutRepository,
  ProviderSignalRepository,
  PushTokenRepository,
  ReceivedEventRepository,
  RequestAnswerRepository,
  ResourceJudgementRepository,
  ResourceSessionRepository,
  SecurityEventRepository,
  SessionCertificateRepository,
  SessionEndRepository,
  SessionRepository,
  SignalStreamRepository,
  SigningKeyRepository,
];
