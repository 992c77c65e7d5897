import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/clock.js';
import { LogOnce } from '../../common/log-once.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import { UpstreamConnections } from '../http/upstream-connections.js';
import { UpstreamError, UpstreamHttp, upstreamErrorIn } from '../http/upstream-http.js';
import {
  parseRevocationList,
  parseRevocationListDer,
  type RevocationList,
} from './revocation-list.js';
import { REVOCATION_LIMITS } from './revocation-limits.js';

const LOOK_EVERY_MS = 1000;
const FIRST_RETRY_MS = 2000;
/** A list that is past its `nextUpdate` when it arrives is asked for again after this. */
const SOONEST_MS = 5000;
/** Lists of distribution points; each may have as many bytes as one response. */
const MAX_LISTS = 32;
/** Longer than any interval of re-checks. */
const KEPT_UNUSED_MS = 25 * 60 * 60 * 1000;

/** A list at an address; null = it never arrived. Times are Unix milliseconds. */
interface Entry {
  readonly list: RevocationList | null;
  /** For conditional requests (RFC 9110, 8.8). */
  readonly tag: string | null;
  readonly dueAt: number;
  readonly failures: number;
}

/** What a list names that the one before it did not. */
export interface ListChange {
  readonly issuerDer: Buffer;
  readonly revoked: readonly string[];
}

/**
 * Revocation lists of addresses, fetched until they are no longer asked for: again before their
 * `nextUpdate` and at least every CRL_FETCH_SECONDS. A list that is older than the known one is
 * refused; while an address does not answer, its last list stays, with its dates.
 */
@Injectable()
export class FetchedLists implements OnApplicationBootstrap {
  private readonly logger = new Logger('RevocationLists');
  private readonly upstreams = new Map<string, UpstreamHttp>();
  private readonly entries: LRUCache<string, Entry>;
  private readonly running = new Map<string, Promise<RevocationList | null>>();
  private readonly listeners: ((change: ListChange) => void)[] = [];
  private readonly failures = new Map<string, LogOnce>();
  /** When a list was last asked for. */
  private readonly askedAt = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly connections: UpstreamConnections,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {
    this.entries = new LRUCache({
      max: MAX_LISTS + mtls.crlUrls.length,
      dispose: (_entry, address, reason) => {
        if (reason !== 'set') {
          this.failures.delete(address);
          this.askedAt.delete(address);
        }
      },
    });
  }

  /** Begins to fetch the configured lists; the start does not wait for them. */
  onApplicationBootstrap(): void {
    this.look();
  }

  /** Calls back for every list that names certificates which the one before it did not. */
  onChange(listener: (change: ListChange) => void): void {
    this.listeners.push(listener);
  }

  /** The list at an address; null when it cannot be fetched. Waits where it is not known yet. */
  async listAt(address: string): Promise<RevocationList | null> {
    this.askedAt.set(address, this.clock.now());
    const known = this.entries.get(address);
    const isKnown = known !== undefined && (known.list !== null || this.clock.now() < known.dueAt);
    return isKnown ? known.list : this.fetch(address);
  }

  @Interval(LOOK_EVERY_MS)
  look(): void {
    if (!this.mtls.enabled) {
      return;
    }
    const now = this.clock.now();
    const wanted = new Set([...this.mtls.crlUrls, ...this.entries.keys()]);
    for (const address of wanted) {
      const askedAt = this.askedAt.get(address) ?? now;
      if (now - askedAt > KEPT_UNUSED_MS && !this.mtls.crlUrls.includes(address)) {
        this.entries.delete(address);
      } else if ((this.entries.peek(address)?.dueAt ?? 0) <= now) {
        void this.fetch(address);
      }
    }
  }

  /** One request to an address at a time. */
  private fetch(address: string): Promise<RevocationList | null> {
    const running =
      this.running.get(address) ??
      this.refresh(address).finally(() => this.running.delete(address));
    this.running.set(address, running);
    return running;
  }

  private async refresh(address: string): Promise<RevocationList | null> {
    const before = this.entries.peek(address) ?? null;
    // The time-out of the request is part of the interval.
    const startedAt = this.clock.now();
    try {
      const { list, tag } = await this.request(address, before);
      this.entries.set(address, { list, tag, failures: 0, dueAt: this.nextFetch(list, startedAt) });
      this.failures.get(address)?.clear();
      this.report(list, before?.list ?? null);
      return list;
    } catch (error) {
      const failures = (before?.failures ?? 0) + 1;
      const longest = this.mtls.crlFetchSeconds * 1000;
      const delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), longest);
      const { list = null, tag = null } = before ?? {};
      this.entries.set(address, { list, tag, failures, dueAt: this.clock.now() + delay });
      this.logFailure(address, error);
      return list;
    }
  }

  private async request(
    address: string,
    before: Entry | null,
  ): Promise<Pick<Entry, 'tag'> & { readonly list: RevocationList }> {
    const tag = before?.tag ?? null;
    const headers: Record<string, string> = tag === null ? {} : { 'if-none-match': tag };
    const response = await this.upstreamOf(address).fetch(address, { headers });
    const known = before?.list ?? null;
    if (response.status === 304 && known !== null) {
      return { list: known, tag };
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const list = parse(Buffer.from(await response.arrayBuffer()));
    // An old list, sent again, would take revocations back.
    if (known?.issuerDer.equals(list.issuerDer) === true && list.thisUpdate < known.thisUpdate) {
      throw new UpstreamError('unexpected_answer');
    }
    return { list, tag: response.headers.get('etag') };
  }

  private nextFetch({ nextUpdate }: RevocationList, startedAt: number): number {
    const soonest = Math.max(nextUpdate ?? Infinity, startedAt + SOONEST_MS);
    return Math.min(soonest, startedAt + this.mtls.crlFetchSeconds * 1000);
  }

  private report(list: RevocationList, before: RevocationList | null): void {
    if (list === before) {
      return;
    }
    const change = newlyRevoked(list, before === null ? [] : [before]);
    if (change.revoked.length > 0) {
      this.listeners.forEach((listener) => listener(change));
    }
  }

  private upstreamOf(address: string): UpstreamHttp {
    const { origin } = new URL(address);
    const upstream =
      this.upstreams.get(origin) ??
      new UpstreamHttp(this.clock, this.connections, REVOCATION_LIMITS);
    this.upstreams.set(origin, upstream);
    return upstream;
  }

  /** The host, and no path: it may name a department. Once, until it answers again. */
  private logFailure(address: string, error: unknown): void {
    const { host } = new URL(address);
    const once =
      this.failures.get(address) ??
      new LogOnce((reason) =>
        this.logger.warn({ msg: 'revocation list not fetched', host, reason }),
      );
    this.failures.set(address, once);
    once.write(upstreamErrorIn(error)?.failure ?? 'not_a_list');
  }
}

/** DER, as RFC 5280 wants it, or PEM. */
function parse(body: Buffer): RevocationList {
  return body[0] === 0x30 ? parseRevocationListDer(body) : parseRevocationList(body.toString());
}

/** What a list names that none of the lists before it did. */
export function newlyRevoked(list: RevocationList, before: readonly RevocationList[]): ListChange {
  const { issuerDer } = list;
  const own = before.filter((one) => one.issuerDer.equals(issuerDer));
  const isNew = (serial: string): boolean => !own.some((one) => one.serialNumbers.has(serial));
  return { issuerDer, revoked: [...list.serialNumbers].filter(isNew) };
}
