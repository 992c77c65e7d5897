import { Runtime } from '../../../common/runtime/runtime.js';
import type { Settings } from '../../config/settings.js';
import type { SharedSignalsSettings } from '../../config/providers-file/provider-settings.js';
import {
  DEFAULT_UPSTREAM_LIMITS,
  UPSTREAM_FAILURES,
  UpstreamError,
} from '../http/upstream-http.js';
import { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { signalTokensOf } from './signal-tokens.js';
import { StreamRefusedError, type StreamClient } from './stream-client.js';
import { StreamConnector, type ConnectedStream } from './stream-connector.js';

export type { ConnectedStream };

/** Access to the stream of one provider for a command. */
export interface OpenedConnector {
  readonly settings: SharedSignalsSettings;
  readonly connector: StreamConnector;
  readonly client: StreamClient;
}

/** @returns null when the provider has no `signals.sharedSignals` with credentials of management */
export async function withConnector<Result>(
  { providers, network }: Pick<Settings, 'providers' | 'network'>,
  provider: string,
  work: (opened: OpenedConnector) => Promise<Result>,
): Promise<Result | null> {
  const entry = providers.find(({ id }) => id === provider);
  if (entry?.type !== 'oidc' || entry.sharedSignals === null) {
    return null;
  }
  const connections = new UpstreamConnectionsService(network);
  const limits = { ...DEFAULT_UPSTREAM_LIMITS, timeoutMs: entry.httpTimeoutSeconds * 1000 };
  const { stream: client } = signalTokensOf(entry, new Runtime(), connections, limits);
  try {
    const settings = entry.sharedSignals;
    return client === null
      ? null
      : await work({
          settings,
          client,
          connector: new StreamConnector(provider, settings, client),
        });
  } finally {
    await connections.onApplicationShutdown();
  }
}

const REFUSALS: Readonly<Record<StreamRefusedError['reason'], string>> = {
  unauthorized:
    'The transmitter refuses the credentials of managementTokenFile or managementClient.',
  missing: 'The transmitter does not know the stream.',
  exists: 'The transmitter has a stream of this client already. Name it with --stream.',
  refused: 'The transmitter refuses the request.',
  unsupported:
    'The transmitter does not offer this, or SERVICE_PUBLIC_URL, where it pushes to, is not set.',
};

/** Describes a failure of the transmitter; null = another error. */
export function transmitterFailure(
  error: unknown,
): { readonly code: string; readonly message: string } | null {
  if (error instanceof StreamRefusedError) {
    return { code: `stream-${error.reason}`, message: REFUSALS[error.reason] };
  }
  return error instanceof UpstreamError
    ? {
        code: 'transmitter-unavailable',
        message: `The transmitter fails: ${UPSTREAM_FAILURES[error.failure]}.`,
      }
    : null;
}
