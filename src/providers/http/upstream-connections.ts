import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { EnvHttpProxyAgent, RequestInit as UndiciInit } from 'undici';
import { trustingContext } from '../../common/network/tls-trust.js';
import { networkConfig, type NetworkSettings } from '../../config/network.config.js';

/**
 * The connections to all upstreams: through the proxies of the configuration (RFC 9110, 9.3.6), and
 * trusting its certificate authorities.
 */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private opened: EnvHttpProxyAgent | null = null;

  constructor(@Inject(networkConfig.KEY) private readonly settings: NetworkSettings) {}

  /** As the global `fetch`. The client is loaded by the first request. */
  async fetch(url: URL, init: RequestInit): Promise<Response> {
    const undici = await import('../../common/network/http-client.js');
    const dispatcher = this.agent(undici.EnvHttpProxyAgent);
    return undici.fetch(url, { ...init, dispatcher } as UndiciInit);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.destroy();
  }

  private agent(Agent: typeof EnvHttpProxyAgent): EnvHttpProxyAgent {
    this.opened ??= openedBy(Agent, this.settings);
    return this.opened;
  }
}

function openedBy(Agent: typeof EnvHttpProxyAgent, settings: NetworkSettings): EnvHttpProxyAgent {
  const { caBundle, httpProxy, httpsProxy, noProxy } = settings;
  const tls = caBundle === null ? {} : { secureContext: trustingContext(caBundle) };
  return new Agent({
    // Given in any case: the agent would read the variables of the process itself.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy.join(','),
    // Plain http is forwarded: many proxies allow CONNECT to port 443 only.
    proxyTunnel: false,
    connect: tls,
    requestTls: tls,
    proxyTls: tls,
  });
}
