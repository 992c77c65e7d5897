import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { errors } from 'jose';
import { AppError } from '../../common/errors.js';
import { QuietLog } from '../../common/quiet-log.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import { networkConfig, type NetworkSettings } from '../config/network.config.js';
import { SIGNATURE_ALGORITHMS } from '../config/providers-file/provider-settings.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import { unavailableBecause, upstreamErrorIn } from '../providers/http/upstream-http.js';
import { ClientAssertionRepository } from '../storage/repositories/oauth/client-assertion.repository.js';
import {
  assertedBy,
  assertionFailure,
  CLOCK_TOLERANCE_SECONDS,
  decodeAssertion,
  type AssertionMethod,
  type DecodedAssertion,
} from './client-assertion-claims.js';
import { clientKeysOf, type ClientKeys } from './client-keys.js';

/** Replicas with different clocks remember a used assertion for as long as any accepts it. */
const REMEMBERED_LONGER_MS = 300_000;

interface AssertingClient {
  readonly server: ResourceServerSettings;
  readonly method: AssertionMethod;
  readonly issuer: string;
  readonly subject: string;
  readonly keys: ClientKeys;
}

/**
 * Authenticates backends by assertions (RFC 7523): JWTs that they sign, each for one use, and
 * projected tokens of Kubernetes service accounts, which they may present again.
 */
@Injectable()
export class ClientAssertionService implements OnApplicationShutdown {
  private readonly logger = new Logger('ClientAssertion');
  private readonly clients: readonly AssertingClient[];
  private readonly audience: string;
  private readonly refusals: QuietLog;

  constructor(
    @Inject(resourceServersConfig.KEY) servers: readonly ResourceServerSettings[],
    @Inject(httpConfig.KEY) http: HttpSettings,
    @Inject(networkConfig.KEY) network: NetworkSettings,
    private readonly used: ClientAssertionRepository,
    private readonly runtime: Runtime,
  ) {
    this.audience = http.publicUrl ?? '';
    this.refusals = new QuietLog(runtime.clock);
    this.clients = servers.flatMap((server) => {
      const { id, client } = server;
      const names = assertedBy(id, client);
      if (client.method === 'secret' || names === null) {
        return [];
      }
      const keys = clientKeysOf(client.keys, network, runtime);
      return [{ server, method: client.method, ...names, keys }];
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.clients.map(({ keys }) => keys.close()));
  }

  /**
   * Judges the claims first: a stranger's text causes no request for keys.
   *
   * @param clientId `client_id` of the form; undefined = the assertion alone names the client
   * @throws AppError `invalid-client`, or `unavailable` when the keys cannot be fetched
   */
  async authenticate(
    assertion: string,
    clientId: string | undefined,
  ): Promise<ResourceServerSettings> {
    const decoded = decodeAssertion(assertion);
    const client = decoded && this.clientOf(decoded, clientId);
    if (decoded === null || client === null) {
      throw new AppError('invalid-client');
    }
    const now = Math.floor(this.runtime.clock.now() / 1000);
    const failure =
      assertionFailure(decoded, client.method, this.audience, now) ??
      (await this.signatureFailure(assertion, client)) ??
      (await this.useFailure(decoded, client));
    if (failure !== null) {
      const { id } = client.server;
      const reason = `The client assertion is refused: ${failure}.`;
      this.refusals.write(`${id} ${failure}`, (others) =>
        this.logger.warn({ msg: 'client assertion refused', client: id, reason, others }),
      );
      throw new AppError('invalid-client');
    }
    return client.server;
  }

  /** Several entries may have one service account: `client_id` then says which one is meant. */
  private clientOf(
    { claims: { iss, sub } }: DecodedAssertion,
    clientId: string | undefined,
  ): AssertingClient | null {
    const [client, ...others] = this.clients.filter(
      ({ server, issuer, subject }) =>
        iss === issuer && sub === subject && (clientId ?? server.id) === server.id,
    );
    return client === undefined || others.length > 0 ? null : client;
  }

  private async signatureFailure(
    assertion: string,
    { issuer, subject, keys }: AssertingClient,
  ): Promise<string | null> {
    try {
      await keys.verify(assertion, {
        issuer,
        subject,
        audience: this.audience,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.runtime.clock.now()),
      });
      return null;
    } catch (error) {
      const upstream = upstreamErrorIn(error);
      if (upstream !== undefined) {
        throw unavailableBecause(upstream);
      }
      const code = error instanceof errors.JOSEError ? error.code : 'ERR_KEY';
      return `its signature is not that of a known key (${code})`;
    }
  }

  private async useFailure(
    { claims: { jti = '', exp = 0 } }: DecodedAssertion,
    { server, method }: AssertingClient,
  ): Promise<string | null> {
    if (method === 'kubernetes') {
      return null;
    }
    const expiresAt = new Date(exp * 1000 + REMEMBERED_LONGER_MS);
    return (await this.used.use(server.id, jti, expiresAt)) ? null : 'it was used before';
  }
}
