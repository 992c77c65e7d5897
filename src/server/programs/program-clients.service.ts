import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { AppError } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { isDocumentAddress } from '../../core/policy/programs/known-programs.js';
import type { ConfiguredProgram, ProgramAcceptance } from '../../core/policy/programs/programs.js';
import { isRedirectAllowable } from '../../core/policy/programs/redirect-address.js';
import { networkConfig, type NetworkSettings } from '../config/network.config.js';
import { programClientsConfig } from '../config/resource-servers/resource-servers.config.js';
import { UpstreamConnectionsService } from '../providers/http/upstream-connections.service.js';
import {
  DEFAULT_UPSTREAM_LIMITS,
  readJson,
  unavailableBecause,
  UpstreamError,
  UpstreamHttp,
  type UpstreamFailure,
} from '../providers/http/upstream-http.js';

/**
 * A stranger can name any number of documents where a pattern or every document is accepted: each host
 * gets few requests for them. A document that a rule names has a budget that they cannot use up.
 */
const LIMITS = {
  ...DEFAULT_UPSTREAM_LIMITS,
  timeoutMs: 5_000,
  maxBytes: 5 * 1024,
  budget: { perSecond: 0.5, burst: 10, longestWaitMs: 0 },
};
const MAX_BUDGETS = 500;
const MAX_DOCUMENTS = 1000;
const SHORTEST_MS = 5 * 60_000;
const LONGEST_MS = 86_400_000;

/** Many hosts serve the uploads of strangers as plain text: those are no documents of the host. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** These are the fault of the document; others pass. */
const REFUSALS: readonly UpstreamFailure[] = [
  'insecure_address',
  'unexpected_answer',
  'too_large',
  'dns_error',
];

/** More marks on one letter are drawn over other lines, such as that of the host; these letters are blank. */
const DISGUISE = /\p{M}{5}|[\u115f\u1160\u2800\u3164\uffa0]/u;

/** Unknown fields, grants and logos are ignored (draft-ietf-oauth-client-id-metadata-document). */
const DOCUMENT = v.object({
  client_id: v.string(),
  client_name: v.pipe(
    v.string(),
    v.trim(),
    v.regex(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,100}$/u),
    v.check((name) => !DISGUISE.test(name)),
  ),
  redirect_uris: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(50)),
  // A document is public, and so would be its secret.
  client_secret: v.optional(v.undefined()),
  token_endpoint_auth_method: v.optional(v.string()),
  token_endpoint_auth_methods_supported: v.optional(v.array(v.string()), []),
});

/**
 * Returns true if the program can be a public one. A document is published once for all servers: ChatGPT's
 * prefers `private_key_jwt`, and lists `none` among the methods that it supports.
 */
function isPublic(document: v.InferOutput<typeof DOCUMENT>): boolean {
  const {
    token_endpoint_auth_method: preferred,
    token_endpoint_auth_methods_supported: supported,
  } = document;
  const methods = preferred === undefined ? supported : [preferred, ...supported];
  const isSecret = preferred?.startsWith('client_secret') === true;
  return !isSecret && (methods.length === 0 || methods.includes('none'));
}

/** Reads programs: those of the configuration, and the metadata documents of others. */
@Injectable()
export class ProgramClientsService implements OnApplicationShutdown {
  private readonly connections: UpstreamConnectionsService;
  private readonly budgets = new LRUCache<string, UpstreamHttp>({ max: MAX_BUDGETS });
  private readonly documents = new LRUCache<string, ConfiguredProgram>({ max: MAX_DOCUMENTS });
  private readonly fetches = new Map<string, Promise<ConfiguredProgram>>();

  constructor(
    private readonly runtime: Runtime,
    @Inject(networkConfig.KEY) network: NetworkSettings,
    @Inject(programClientsConfig.KEY) private readonly configured: readonly ConfiguredProgram[],
  ) {
    this.connections = new UpstreamConnectionsService(network);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.onApplicationShutdown();
  }

  /**
   * @param acceptance the rule that accepts the id: a document that any rule accepts must be public
   * @throws AppError `invalid-client`, `unavailable`, `unsupported-client-authentication` for a document
   *   of a program that authenticates itself
   */
  async find(clientId: string, acceptance: ProgramAcceptance): Promise<ConfiguredProgram> {
    const known = this.configured.find(({ id }) => id === clientId) ?? this.documents.get(clientId);
    if (known !== undefined) {
      return known;
    }
    if (!isDocumentAddress(clientId)) {
      throw new AppError('invalid-client');
    }
    const key = `${acceptance} ${clientId}`;
    const fetched =
      this.fetches.get(key) ??
      this.fetch(clientId, acceptance).finally(() => this.fetches.delete(key));
    this.fetches.set(key, fetched);
    return fetched;
  }

  private async fetch(clientId: string, acceptance: ProgramAcceptance): Promise<ConfiguredProgram> {
    try {
      const http = this.httpOf(clientId, acceptance);
      const response = await http.fetch(clientId, { headers: { accept: 'application/json' } });
      if (response.status !== 200) {
        throw new UpstreamError('unexpected_answer', { detail: `HTTP ${response.status}` });
      }
      if (!JSON_TYPE.test(response.headers.get('content-type') ?? '')) {
        throw new UpstreamError('unexpected_answer', { detail: 'no JSON by its media type' });
      }
      const document = await readJson(response, DOCUMENT);
      if (!isPublic(document)) {
        throw new AppError('unsupported-client-authentication');
      }
      const redirectUris = document.redirect_uris.filter((one) => isRedirectAllowable(one, false));
      if (document.client_id !== clientId || redirectUris.length === 0) {
        throw new UpstreamError('unexpected_answer');
      }
      const program = { id: clientId, name: document.client_name, redirectUris };
      this.documents.set(clientId, program, { ttl: lifetimeOf(response) });
      return program;
    } catch (error) {
      if (error instanceof UpstreamError) {
        throw REFUSALS.includes(error.failure)
          ? new AppError('invalid-client', {}, { cause: error })
          : unavailableBecause(error);
      }
      throw error;
    }
  }

  private httpOf(clientId: string, acceptance: ProgramAcceptance): UpstreamHttp {
    const counted = acceptance === 'named' ? clientId : new URL(clientId).host;
    const key = `${acceptance} ${counted}`;
    const isAny = acceptance === 'any-document' && { isPublicOnly: true as const };
    const http =
      this.budgets.get(key) ??
      new UpstreamHttp(this.runtime, this.connections, { ...LIMITS, ...isAny });
    this.budgets.set(key, http);
    return http;
  }
}

/** Five minutes to a day, as its headers say. */
function lifetimeOf({ headers }: Response): number {
  const [, seconds = '0'] = /\bmax-age=(\d{1,9})\b/i.exec(headers.get('cache-control') ?? '') ?? [];
  return Math.min(Math.max(Number(seconds) * 1000, SHORTEST_MS), LONGEST_MS);
}
