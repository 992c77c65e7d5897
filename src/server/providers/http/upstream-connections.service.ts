import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { EnvHttpProxyAgent, RequestInit as UndiciInit } from 'undici';
import type { NetworkKind } from '../../../common/addresses.js';
import { trustingContext } from '../../network/tls-trust.js';
import { networkConfig, type NetworkSettings } from '../../config/network.config.js';
import { lookupWithin, reachOf, refuseLiteral } from './upstream-addresses.js';

/** Limits the networks that a request may reach. */
interface Confinement {
  /** It named the address, and must not reach hosts nearer than itself through it. */
  readonly issuer?: string;
  readonly isPublicOnly?: boolean;
}

/** Uses the configured proxies (RFC 9110, 9.3.6) and certificate authorities. */
@Injectable()
export class UpstreamConnectionsService implements OnApplicationShutdown {
  /** By the network that they are confined to; `local` = any. */
  private readonly opened = new Map<NetworkKind, EnvHttpProxyAgent>();

  constructor(@Inject(networkConfig.KEY) private readonly settings: NetworkSettings) {}

  async fetch(url: URL, init: RequestInit, confinement: Confinement = {}): Promise<Response> {
    const reach = await reachWithin(confinement, url);
    refuseLiteral(url, reach);
    const undici = await import('undici');
    const dispatcher = this.agent(undici.EnvHttpProxyAgent, reach);
    return undici.fetch(url, { ...init, dispatcher } as UndiciInit);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.opened.values()].map((agent) => agent.destroy()));
  }

  private agent(Agent: typeof EnvHttpProxyAgent, reach: NetworkKind): EnvHttpProxyAgent {
    const agent = this.opened.get(reach) ?? openedBy(Agent, this.settings, reach);
    this.opened.set(reach, agent);
    return agent;
  }
}

function reachWithin(
  { issuer, isPublicOnly = false }: Confinement,
  url: URL,
): NetworkKind | Promise<NetworkKind> {
  if (isPublicOnly) {
    return 'public';
  }
  const isOwn = issuer === undefined || new URL(issuer).hostname === url.hostname;
  return isOwn ? 'local' : reachOf(issuer);
}

function openedBy(
  Agent: typeof EnvHttpProxyAgent,
  settings: NetworkSettings,
  reach: NetworkKind,
): EnvHttpProxyAgent {
  const { caBundle, httpProxy, httpsProxy, noProxy } = settings;
  const tls = caBundle === null ? {} : { secureContext: trustingContext(caBundle) };
  return new Agent({
    // Always set, because the agent would otherwise read the variables of the process.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy.join(','),
    // Plain http is forwarded: many proxies allow CONNECT to port 443 only.
    proxyTunnel: false,
    connect: { ...tls, ...(reach !== 'local' && { lookup: lookupWithin(reach) }) },
    requestTls: tls,
    proxyTls: tls,
  });
}
