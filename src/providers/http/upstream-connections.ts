import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { EnvHttpProxyAgent, RequestInit as UndiciInit } from 'undici';
import { trustingContext } from '../../common/tls-trust.js';
import { networkConfig, type NetworkSettings } from '../../config/network.config.js';

/**
 * The connections to all upstreams: through the proxies of the configuration (RFC 9110, 9.3.6), and
 * trusting its certificate authorities. Another trust needs new connections; open ones are used up.
 */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private opened: { readonly caBundle: string | null; readonly agent: EnvHttpProxyAgent } | null =
    null;

  constructor(@Inject(networkConfig.KEY) private settings: NetworkSettings) {}

  /** Trusts another list of authorities from the next request on. */
  trust(caBundle: string | null): void {
    this.settings = { ...this.settings, caBundle };
  }

  /** As the global `fetch`. The client is loaded by the first request. */
  async fetch(url: URL, init: RequestInit): Promise<Response> {
    const undici = await import('../../common/http-client.js');
    const dispatcher = this.agent(undici.EnvHttpProxyAgent);
    return undici.fetch(url, { ...init, dispatcher } as UndiciInit);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.agent.destroy();
  }

  private agent(Agent: typeof EnvHttpProxyAgent): EnvHttpProxyAgent {
    const { caBundle, httpProxy, httpsProxy, noProxy } = this.settings;
    if (this.opened?.caBundle !== caBundle) {
      void this.opened?.agent.close();
      this.opened = null;
    }
    const tls = caBundle === null ? {} : { secureContext: trustingContext(caBundle) };
    this.opened ??= {
      caBundle,
      agent: new Agent({
        // Given in any case: the agent would read the variables of the process itself.
        httpProxy: httpProxy ?? '',
        httpsProxy: httpsProxy ?? '',
        noProxy: noProxy.join(','),
        // Plain http is forwarded: many proxies allow CONNECT to port 443 only.
        proxyTunnel: false,
        connect: tls,
        requestTls: tls,
        proxyTls: tls,
      }),
    };
    return this.opened.agent;
  }
}
