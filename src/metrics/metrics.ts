import { Global, Injectable, Module } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds: from a warm request to one that waited for an upstream. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds: from a push signal to a backlog of hours. */
const REVOCATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 1800, 7200, 86_400];

/**
 * Every instrument of this process. Label values come from our own tables, never from a request, so
 * that no caller can make the page grow.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly logins = new Counter({
    name: 'gatehouse_auth_login_total',
    help: 'Logins, by method, outcome (ok, refused) and the code of a refusal.',
    labelNames: ['method', 'outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly eligibilityChecks = new Counter({
    name: 'gatehouse_eligibility_checks_total',
    help: 'Re-checks of linked identities, by provider and outcome (eligible, ineligible, unknown, invalid_client, service_account_refused, lost_lease).',
    labelNames: ['provider', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly revocation = new Histogram({
    name: 'gatehouse_revocation_seconds',
    help: 'From the moment an identity was due (a push signal makes it due) to the announcement that it lost access.',
    buckets: REVOCATION_BUCKETS,
    registers: [this.registry],
  });

  readonly requests = new Histogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'HTTP requests, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: REQUEST_BUCKETS,
    registers: [this.registry],
  });

  readonly handshakesRefused = new Counter({
    name: 'gatehouse_handshakes_refused_total',
    help: 'Handshakes of live connections that were refused, by code; unavailable: too many at once, or no storage.',
    labelNames: ['code'] as const,
    registers: [this.registry],
  });

  /** Adds what every Prometheus client reports of its process, and `gatehouse_build_info`. */
  observeProcess(version: string): void {
    collectDefaultMetrics({ register: this.registry, prefix: 'gatehouse_' });
    new Gauge({
      name: 'gatehouse_build_info',
      help: 'Always 1; the labels are the versions of Gatehouse and of Node.js.',
      labelNames: ['version', 'node_version'] as const,
      registers: [this.registry],
    }).set({ version, node_version: process.version }, 1);
  }

  /** Adds counters that are kept elsewhere, on paths where a counter here would cost too much. */
  observeCounts<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => readonly { readonly labels: Record<Label, string>; readonly count: number }[],
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, count } of read()) {
          this.inc(labels, count);
        }
      },
    });
  }

  /** Adds a gauge that is read with the page; NaN when it cannot be read. */
  observe(name: string, help: string, read: () => number | null | Promise<number | null>): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        const value = await Promise.resolve(read()).catch(() => null);
        this.set(value ?? NaN);
      },
    });
  }
}

/**
 * Owns the instruments. Does not own the events: every module counts its own. The page is served by
 * health.
 */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
