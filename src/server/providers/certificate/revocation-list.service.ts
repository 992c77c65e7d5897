import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LRUCache } from 'lru-cache';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { LogOnce } from '../../../common/log-once.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import {
  isBelieved,
  isInFuture,
  newlyRevoked,
  readRevocationList,
  type ListChange,
  type RevocationList,
} from '../../../core/x509/revocation-list.js';
import type { IssuerKey } from '../../../core/x509/verify-signature.js';
import { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamError, UpstreamHttp, upstreamErrorIn } from '../http/upstream-http.js';
import { REVOCATION_LIMITS } from './revocation-limits.js';

const LOOK_EVERY_MS = 1000;
const FIRST_RETRY_MS = 2000;
/** A list that is past its `nextUpdate` when it arrives is asked for again after this. */
const SOONEST_MS = 5000;
/** Lists of distribution points; each may have as many bytes as one response. */
const MAX_LISTS = 32;
/** Longer than any interval of re-checks. */
const KEPT_UNUSED_MS = 25 * 60 * 60 * 1000;

/** Authorities whose keys are remembered, and keys of one: it may change its key. */
const MAX_AUTHORITIES = 256;
const MAX_KEYS = 8;

interface Download {
  readonly list: RevocationList;
  /** For conditional requests (RFC 9110, 8.8). */
  readonly tag: string | null;
}

interface Entry {
  /** null = none arrived with a valid signature. */
  readonly verified: Download | null;
  /** The last download, while no known key made its signature: it counts for nothing. */
  readonly candidate: Download | null;
  /** The next request is due this long after the moment. */
  readonly since: Moment;
  readonly waitMs: number;
  readonly failures: number;
}

/** Keys are those of validated paths and anchors. */
interface ListAuthority {
  readonly issuerDer: Buffer;
  readonly keys: readonly IssuerKey[];
}

class ListRefusal extends Error {
  constructor(readonly reason: 'list_unsupported' | 'list_in_future' | 'list_not_signed') {
    super(reason);
  }
}

/**
 * Fetches lists again before their `nextUpdate` and at least every CRL_FETCH_SECONDS. A list
 * replaces the known one once its signature is verified, if it is not older.
 */
@Injectable()
export class RevocationListService implements OnApplicationBootstrap {
  private readonly logger = new Logger('RevocationLists');
  private readonly upstreams = new Map<string, UpstreamHttp>();
  private readonly entries: LRUCache<string, Entry>;
  private readonly running = new Map<string, Promise<void>>();
  private readonly listeners: ((change: ListChange) => void)[] = [];
  private readonly unverifiedListeners: ((issuerDer: Buffer) => void)[] = [];
  /** By the name of the authority, base64 DER. */
  private readonly keys = new LRUCache<string, readonly IssuerKey[]>({ max: MAX_AUTHORITIES });
  private readonly failures = new Map<string, LogOnce>();
  private readonly usedAt = new Map<string, number>();

  constructor(
    private readonly runtime: Runtime,
    private readonly connections: UpstreamConnectionsService,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {
    this.entries = new LRUCache({
      max: MAX_LISTS + mtls.crlUrls.length,
      dispose: (_entry, address, reason) => {
        if (reason !== 'set') {
          this.failures.delete(address);
          this.usedAt.delete(address);
        }
      },
    });
  }

  /** The start does not wait for the lists. */
  onApplicationBootstrap(): void {
    this.fetchDue();
  }

  onChange(listener: (change: ListChange) => void): void {
    this.listeners.push(listener);
  }

  onUnverified(listener: (issuerDer: Buffer) => void): void {
    this.unverifiedListeners.push(listener);
  }

  /** Waits where no list is known yet. @returns null when no known authority signed one */
  async listAt(address: string, authority: ListAuthority): Promise<RevocationList | null> {
    this.usedAt.set(address, this.runtime.clock.now());
    this.learn(authority);
    const known = this.entries.get(address);
    if (known === undefined || (known.verified === null && this.isDue(known))) {
      await this.fetch(address);
    }
    return this.entries.get(address)?.verified?.list ?? null;
  }

  /** Returns the verified lists of CRL_URLS, by the host of their address. */
  configuredLists(): { readonly host: string; readonly list: RevocationList }[] {
    return this.mtls.crlUrls.flatMap((address) => {
      const list = this.entries.peek(address)?.verified?.list;
      return list === undefined ? [] : [{ host: new URL(address).host, list }];
    });
  }

  /** Verifies what arrived before the keys of its authority were known. */
  learn({ issuerDer, keys }: ListAuthority): void {
    const name = issuerDer.toString('base64');
    const known = this.keys.get(name) ?? [];
    const added = keys.filter((key) => !known.some((one) => one.name === key.name));
    if (added.length === 0) {
      return;
    }
    this.keys.set(name, [...added, ...known].slice(0, MAX_KEYS));
    for (const [address, { candidate }] of [...this.entries.entries()]) {
      if (candidate?.list.issuerDer.equals(issuerDer) === true) {
        this.tryAgain(address, candidate);
      }
    }
  }

  @Interval(LOOK_EVERY_MS)
  fetchDue(): void {
    if (!this.mtls.enabled) {
      return;
    }
    const now = this.runtime.clock.now();
    const wanted = new Set([...this.mtls.crlUrls, ...this.entries.keys()]);
    for (const address of wanted) {
      const usedAt = this.usedAt.get(address) ?? now;
      if (now - usedAt > KEPT_UNUSED_MS && !this.mtls.crlUrls.includes(address)) {
        this.entries.delete(address);
      } else if (this.isDue(this.entries.peek(address))) {
        void this.fetch(address);
      }
    }
  }

  private isDue(entry: Entry | undefined): boolean {
    return (
      entry === undefined || millisecondsSince(entry.since, this.runtime.clock) >= entry.waitMs
    );
  }

  /** One request to an address at a time. */
  private fetch(address: string): Promise<void> {
    const running =
      this.running.get(address) ??
      this.refresh(address).finally(() => this.running.delete(address));
    this.running.set(address, running);
    return running;
  }

  private async refresh(address: string): Promise<void> {
    // The time-out of the request is part of the interval.
    const startedAt = momentOf(this.runtime.clock);
    try {
      const known = this.entries.peek(address)?.verified ?? null;
      const download = await this.request(address, known);
      this.requireUsable(download);
      if (!this.accept(address, download, startedAt)) {
        this.keep(address, download, startedAt);
      }
      this.failures.get(address)?.clear();
    } catch (error) {
      this.fail(address, error);
    }
  }

  /** @returns the known one again where the address says that it has not changed */
  private async request(address: string, known: Download | null): Promise<Download> {
    const tag = known?.tag ?? null;
    const headers: Record<string, string> = tag === null ? {} : { 'if-none-match': tag };
    const response = await this.upstreamOf(address).fetch(address, { headers });
    if (response.status === 304 && known !== null) {
      return known;
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const body = Buffer.from(await response.arrayBuffer());
    const list = await readRevocationList(body, {
      maxAgeMs: this.mtls.crlMaxAgeSeconds * 1000,
      nextTurn: () => this.runtime.timers.nextTurn(),
    });
    return { list, tag: response.headers.get('etag') };
  }

  /** @throws ListRefusal when it could not count even with a valid signature */
  private requireUsable({ list }: Download): void {
    if (!list.isUsable) {
      throw new ListRefusal('list_unsupported');
    }
    if (isInFuture(list, this.runtime.clock.now())) {
      throw new ListRefusal('list_in_future');
    }
  }

  /** @returns false when no known authority signed it @throws UpstreamError for an old list */
  private accept(
    address: string,
    download: Download,
    startedAt = momentOf(this.runtime.clock),
  ): boolean {
    const { list } = download;
    if (!isBelieved(list, this.keysOf(list), this.runtime.clock.now())) {
      return false;
    }
    const before = this.entries.peek(address)?.verified?.list ?? null;
    if (before?.issuerDer.equals(list.issuerDer) === true && list.thisUpdate < before.thisUpdate) {
      throw new UpstreamError('unexpected_answer');
    }
    this.entries.set(address, {
      verified: download,
      candidate: null,
      failures: 0,
      since: startedAt,
      waitMs: this.longestWait(list, startedAt.wallMs),
    });
    this.report(list, before);
    return true;
  }

  private tryAgain(address: string, candidate: Download): void {
    try {
      this.accept(address, candidate);
    } catch (error) {
      this.fail(address, error);
    }
  }

  /**
   * Keeps a download until its authority, which may have another key, is known.
   * @throws ListRefusal when none of the known keys made the signature
   */
  private keep(address: string, candidate: Download, since: Moment): void {
    const { verified = null, failures = 0 } = this.entries.peek(address) ?? {};
    const waitMs = this.mtls.crlFetchSeconds * 1000;
    this.entries.set(address, { verified, candidate, failures, since, waitMs });
    this.unverifiedListeners.forEach((listener) => listener(candidate.list.issuerDer));
    if (this.keysOf(candidate.list).length > 0) {
      throw new ListRefusal('list_not_signed');
    }
  }

  private fail(address: string, error: unknown): void {
    const before = this.entries.peek(address);
    const { verified, candidate } = before ?? { verified: null, candidate: null };
    const failures = (before?.failures ?? 0) + 1;
    const longest = this.mtls.crlFetchSeconds * 1000;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), longest);
    const since = momentOf(this.runtime.clock);
    this.entries.set(address, { verified, candidate, failures, since, waitMs });
    this.logFailure(address, error);
  }

  private keysOf({ issuerDer }: RevocationList): readonly IssuerKey[] {
    return this.keys.get(issuerDer.toString('base64')) ?? [];
  }

  private longestWait({ validUntil }: RevocationList, startedAt: number): number {
    const soonest = Math.max(validUntil - startedAt, SOONEST_MS);
    return Math.min(soonest, this.mtls.crlFetchSeconds * 1000);
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
      new UpstreamHttp(this.runtime, this.connections, REVOCATION_LIMITS);
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
    const reason = error instanceof ListRefusal ? error.reason : upstreamErrorIn(error)?.failure;
    once.write(reason ?? 'not_a_list');
  }
}
