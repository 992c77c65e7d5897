import type { Runtime } from '../../../common/runtime/runtime.js';
import type {
  OidcProviderSettings,
  SharedSignalsSettings,
} from '../../config/providers-file/provider-settings.js';
import { RemoteKeySet } from '../http/remote-key-set.js';
import type { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamHttp, type UpstreamLimits } from '../http/upstream-http.js';
import { managementTokensOf } from './management-tokens.js';
import { RevocationTokens } from './revocation-tokens.js';
import { SecurityEventTokens } from './security-event-tokens.js';
import { StreamClient } from './stream-client.js';
import { TransmitterMetadata } from './transmitter-metadata.js';

/** Long enough for a poll that waits, and for a hundred events of 16 KiB. */
const POLL_LIMITS = { timeoutMs: 20_000, maxBytes: 2 * 1024 * 1024 };

/** Verifies the tokens of signals, and manages their stream; null = not configured. */
export interface SignalTokens {
  readonly revocations: RevocationTokens | null;
  readonly securityEvents: SecurityEventTokens | null;
  readonly stream: StreamClient | null;
}

export function signalTokensOf(
  { globalTokenRevocation, sharedSignals }: OidcProviderSettings,
  runtime: Runtime,
  connections: UpstreamConnectionsService,
  limits: UpstreamLimits,
): SignalTokens {
  const { clock } = runtime;
  const keys = new RemoteKeySet(new UpstreamHttp(runtime, connections, limits), clock);
  return {
    revocations: globalTokenRevocation && new RevocationTokens(globalTokenRevocation, keys, clock),
    ...(sharedSignals === null
      ? { securityEvents: null, stream: null }
      : sharedSignalsOf(sharedSignals, runtime, connections, limits)),
  };
}

function sharedSignalsOf(
  settings: SharedSignalsSettings,
  runtime: Runtime,
  connections: UpstreamConnectionsService,
  limits: UpstreamLimits,
): Pick<SignalTokens, 'securityEvents' | 'stream'> {
  const { clock } = runtime;
  const { transmitter: issuer, management } = settings;
  // The transmitter's document names the other addresses.
  const http = new UpstreamHttp(runtime, connections, { ...limits, issuer });
  const metadata = new TransmitterMetadata(issuer, http, clock);
  const securityEvents = new SecurityEventTokens(
    settings,
    metadata,
    new RemoteKeySet(http, clock),
    clock,
  );
  if (management === null) {
    return { securityEvents, stream: null };
  }
  const tokenHttp = new UpstreamHttp(runtime, connections, limits);
  const tokens = managementTokensOf(management, tokenHttp, clock);
  const pollHttp = new UpstreamHttp(runtime, connections, { ...limits, ...POLL_LIMITS, issuer });
  return { securityEvents, stream: new StreamClient(metadata, tokens, http, pollHttp) };
}
