import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTVerifyOptions } from 'jose';
import type { Runtime } from '../../common/runtime/runtime.js';
import { SecretFile } from '../config/environment/secret-file.js';
import type { NetworkSettings } from '../config/network.config.js';
import {
  parseAuthorities,
  parseBearer,
  parseKeySet,
  type KeySource,
  type PublicKeySet,
} from '../config/resource-servers/client-settings.js';
import { RemoteKeySet } from '../providers/http/remote-key-set.js';
import { UpstreamConnectionsService } from '../providers/http/upstream-connections.service.js';
import { DEFAULT_UPSTREAM_LIMITS, UpstreamHttp } from '../providers/http/upstream-http.js';

/** A backend waits for its answer meanwhile. */
const LIMITS = { ...DEFAULT_UPSTREAM_LIMITS, timeoutMs: 5_000 };

/** The public keys of one client. */
export interface ClientKeys {
  /** @throws UpstreamError when they cannot be fetched, or an error of jose for an invalid assertion */
  verify(assertion: string, options: JWTVerifyOptions): Promise<void>;
  close(): Promise<void>;
}

export function clientKeysOf(
  source: KeySource,
  network: NetworkSettings,
  runtime: Runtime,
): ClientKeys {
  return 'jwksFile' in source
    ? new FileKeys(source, runtime)
    : new FetchedKeys(source, network, runtime);
}

type FileSource = Extract<KeySource, { jwksFile: string }>;
type FetchedSource = Extract<KeySource, { jwksUri: string }>;

class FileKeys implements ClientKeys {
  private readonly file: SecretFile<PublicKeySet>;

  constructor({ keySet, jwksFile }: FileSource, { clock }: Runtime) {
    this.file = new SecretFile<PublicKeySet>(clock, keySet, jwksFile, parseKeySet);
  }

  async verify(assertion: string, options: JWTVerifyOptions): Promise<void> {
    const keySet = await this.file.current();
    await jwtVerify(assertion, createLocalJWKSet(keySet as JSONWebKeySet), options);
  }

  async close(): Promise<void> {
    // A file that is read on use holds nothing.
  }
}

/** Fetches the keys as a request to an identity provider: limited in time, size and rate. */
class FetchedKeys implements ClientKeys {
  private readonly ca: SecretFile<string | null>;
  private readonly bearer: SecretFile<string | null>;
  private opened: {
    readonly ca: string | null;
    readonly connections: UpstreamConnectionsService;
    readonly keys: RemoteKeySet;
  } | null = null;

  constructor(
    private readonly source: FetchedSource,
    private readonly network: NetworkSettings,
    private readonly runtime: Runtime,
  ) {
    const { ca, caFile, bearer, bearerFile } = source;
    this.ca = new SecretFile<string | null>(runtime.clock, ca, caFile, parseAuthorities);
    this.bearer = new SecretFile<string | null>(runtime.clock, bearer, bearerFile, parseBearer);
  }

  async verify(assertion: string, options: JWTVerifyOptions): Promise<void> {
    const ca = await this.ca.current();
    if (this.opened?.ca !== ca) {
      void this.close();
      this.opened = this.open(ca);
    }
    await this.opened.keys.verify(this.source.jwksUri, assertion, options);
  }

  async close(): Promise<void> {
    await this.opened?.connections.onApplicationShutdown();
  }

  private open(ca: string | null): NonNullable<FetchedKeys['opened']> {
    const trusted = [this.network.caBundle, ca].filter((one) => one !== null);
    const caBundle = trusted.length === 0 ? null : trusted.join('\n');
    const connections = new UpstreamConnectionsService({ ...this.network, caBundle });
    const http = new UpstreamHttp(this.runtime, connections, LIMITS);
    const keys = new RemoteKeySet(http, this.runtime.clock, () => this.headers());
    return { ca, connections, keys };
  }

  private async headers(): Promise<Readonly<Record<string, string>>> {
    const bearer = await this.bearer.current();
    return bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  }
}
