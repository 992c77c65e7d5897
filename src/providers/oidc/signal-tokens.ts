import type { Runtime } from '../../common/runtime/runtime.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import { RemoteKeySet } from '../http/remote-key-set.js';
import type { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamHttp, type UpstreamLimits } from '../http/upstream-http.js';
import { RevocationTokens } from './revocation-tokens.js';
import { SecurityEventTokens } from './security-event-tokens.js';

/** Verifies the tokens of signals; null = not configured. */
export interface SignalTokens {
  readonly revocations: RevocationTokens | null;
  readonly securityEvents: SecurityEventTokens | null;
}

export function signalTokensOf(
  { globalTokenRevocation, sharedSignals }: OidcProviderSettings,
  runtime: Runtime,
  connections: UpstreamConnectionsService,
  limits: UpstreamLimits,
): SignalTokens {
  const { clock } = runtime;
  const keysOver = (http: UpstreamHttp): RemoteKeySet => new RemoteKeySet(http, clock);
  const http = new UpstreamHttp(runtime, connections, limits);
  // The transmitter's document names the address of its keys.
  const issuer = sharedSignals?.transmitter ?? '';
  const transmitter = new UpstreamHttp(runtime, connections, { ...limits, issuer });
  return {
    revocations:
      globalTokenRevocation && new RevocationTokens(globalTokenRevocation, keysOver(http), clock),
    securityEvents:
      sharedSignals &&
      new SecurityEventTokens(sharedSignals, transmitter, keysOver(transmitter), clock),
  };
}
