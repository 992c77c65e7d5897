import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import { askedScopes } from '../../core/policy/programs/program-scopes.js';
import {
  judgeProgram,
  REQUEST_LIFETIME_MS,
  type ConfiguredProgram,
} from '../../core/policy/programs/programs.js';
import { isRegisteredRedirect } from '../../core/policy/programs/redirect-address.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import {
  programClientsConfig,
  resourceServersConfig,
} from '../config/resource-servers/resource-servers.config.js';
import { oauthErrorOf } from '../oauth/oauth-refusal.js';
import { ExternalFlowRepository } from '../storage/repositories/one-time.repository.js';
import {
  answerAddress,
  challengeOf,
  checkAnswerType,
  checkSent,
  isResource,
  readParameters,
  requireParameter,
  type AuthorizationRequest,
  type SentParameters,
} from './authorization-request.js';
import { ProgramClientsService } from './program-clients.service.js';

/** The page at which people answer requests. */
const PAGE = '/app/authorize';

/** Stores the requests of programs (RFC 6749, 4.1.1), and sends the browser to the page. */
@Injectable()
export class AuthorizationService {
  private readonly issuer: string;

  constructor(
    private readonly clients: ProgramClientsService,
    private readonly flows: ExternalFlowRepository,
    private readonly clock: Clock,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
    @Inject(programClientsConfig.KEY) private readonly configured: readonly ConfiguredProgram[],
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.issuer = http.publicUrl ?? '';
  }

  /**
   * Returns the address to which the browser goes. A refusal is shown on the page, because any site
   * can start a request; only programs that are known or configured get it at their own address.
   */
  async begin(query: URLSearchParams): Promise<string> {
    try {
      const sent = readParameters(query);
      checkSent(sent, ['client_id', 'redirect_uri']);
      const { parameters } = sent;
      const server = this.serverOf(parameters.resource);
      const { client, isKnown } = await this.clientOf(sent, server);
      const redirectUri = requireParameter(parameters.redirect_uri, 'redirect_uri');
      if (!client.redirectUris.some((one) => isRegisteredRedirect(one, redirectUri))) {
        throw new AppError('invalid-redirect');
      }
      return await this.store(sent, { server, client, redirectUri }).catch((error: unknown) => {
        if (!isKnown || !(error instanceof AppError)) {
          throw error;
        }
        const answer = { error: oauthErrorOf(error.code) };
        return answerAddress(redirectUri, this.issuer, parameters.state ?? null, answer);
      });
    } catch (error) {
      if (error instanceof AppError) {
        return `${this.issuer}${PAGE}#error=${error.code}`;
      }
      throw error;
    }
  }

  private serverOf(resource: string | undefined): ResourceServerSettings | undefined {
    return this.servers.find(
      (one) => one.programs !== null && isResource(one.resource, resource ?? ''),
    );
  }

  private async clientOf(
    { parameters, refused }: SentParameters,
    server: ResourceServerSettings | undefined,
  ): Promise<{ readonly client: ConfiguredProgram; readonly isKnown: boolean }> {
    const { client_id: clientId = '', resource } = parameters;
    const known = judgeProgram(clientId, { clients: 'known' }, this.configured);
    const acceptance = server?.programs
      ? judgeProgram(clientId, server.programs, this.configured)
      : known;
    if (acceptance === null) {
      const hasResource = resource !== undefined || refused.includes('resource');
      const isOfResource = server === undefined && hasResource;
      throw new AppError(isOfResource ? 'invalid-target' : 'invalid-client');
    }
    return { client: await this.clients.find(clientId, acceptance), isKnown: known !== null };
  }

  private async store(
    sent: SentParameters,
    found: {
      readonly server: ResourceServerSettings | undefined;
      readonly client: ConfiguredProgram;
      readonly redirectUri: string;
    },
  ): Promise<string> {
    const { server, client, redirectUri } = found;
    if (server === undefined || server.programs === null) {
      throw new AppError('invalid-target');
    }
    const { parameters } = sent;
    checkSent(sent);
    checkAnswerType(parameters);
    const codeChallenge = challengeOf(parameters);
    const { scopes, initial } = server.programs;
    const request: AuthorizationRequest = {
      client: { id: client.id, name: client.name },
      redirectUri,
      resourceServer: server.id,
      scopes: askedScopes(parameters.scope, scopes, initial),
      state: parameters.state ?? null,
      codeChallenge,
      expiresAt: this.clock.now() + REQUEST_LIFETIME_MS,
    };
    const id = await this.flows.add('program-request', request, REQUEST_LIFETIME_MS);
    return `${this.issuer}${PAGE}#${id}`;
  }
}
