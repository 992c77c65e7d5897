import { Injectable } from '@nestjs/common';
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type LabelValues,
} from 'prom-client';
import { Timers } from '../../common/runtime/timers.js';

const PREFIX = 'gatehouse_';
/** Half of the time that the chart gives a scrape: while a database hangs, only its own gauges are missing. */
const ANSWER_MS = 5000;
/** Seconds: from a warm request to one that waited for an upstream. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds: from a push signal to a backlog of hours. */
const REVOCATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 1800, 7200, 86_400];

/** Seconds: from a tap on the phone to a request of a day. */
const ANSWER_BUCKETS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 7200, 86_400];

/** The counter of requests about tokens of backends, which administrators see too. */
export const RESOURCE_SERVER_REQUESTS = 'gatehouse_resource_server_requests_total';

/** The labels of each series, with its value. */
type Labelled<Label extends string> = readonly (Readonly<Record<Label, string>> & {
  readonly value: number;
})[];

/** Label values come from our own tables, so that no caller can make the page grow. */
@Injectable()
export class MetricsService {
  readonly registry = new Registry();

  readonly logins = new Counter({
    name: 'gatehouse_auth_login_total',
    help: 'Logins, by method, outcome (ok, refused) and the code of a refusal.',
    labelNames: ['method', 'outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly eligibilityChecks = new Counter({
    name: 'gatehouse_eligibility_checks_total',
    help: 'Re-checks of linked identities, by provider and outcome (eligible, ineligible, unknown, groups_refused, invalid_client, organization_missing, service_account_refused, lost_lease).',
    labelNames: ['provider', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly revocation = new Histogram({
    name: 'gatehouse_revocation_seconds',
    help: 'From the moment an identity was due (a push signal makes it due) to the announcement that it lost access.',
    buckets: REVOCATION_BUCKETS,
    registers: [this.registry],
  });

  readonly directoryChanges = new Counter({
    name: 'gatehouse_directory_changes_total',
    help: 'Changes of access that a directory reported by SCIM, by outcome (deactivated, activated, unmatched, ambiguous).',
    labelNames: ['provider', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly sharedSignals = new Counter({
    name: 'gatehouse_shared_signals_total',
    help: 'Security events that providers sent, by kind (refused: no valid event) and outcome (applied, unmatched, ambiguous, unchanged, counted, repeated, or the error of a refusal).',
    labelNames: ['provider', 'kind', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly sharedSignalsLag = new Histogram({
    name: 'gatehouse_shared_signals_lag_seconds',
    help: 'From the time of a security event at its provider (toe, else event_timestamp, else iat) to the end of its effect here.',
    labelNames: ['provider'] as const,
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

  readonly securityEvents = new Counter({
    name: 'gatehouse_security_events_total',
    help: 'Events about ended sessions, by resource server and step: delivered (each time), acknowledged.',
    labelNames: ['resource_server', 'step'] as const,
    registers: [this.registry],
  });

  readonly agentRequests = new Counter({
    name: 'gatehouse_agent_requests_total',
    help: 'Requests of programs to people, by step: asked, answered (once each), taken (closed with an answer), withdrawn, expired.',
    labelNames: ['step'] as const,
    registers: [this.registry],
  });

  readonly agentRequestAnswer = new Histogram({
    name: 'gatehouse_agent_request_answer_seconds',
    help: 'From a request of a program to its first answer.',
    buckets: ANSWER_BUCKETS,
    registers: [this.registry],
  });

  readonly handshakesRefused = new Counter({
    name: 'gatehouse_handshakes_refused_total',
    help: 'Handshakes of live connections that were refused, by code; unavailable: too many at once, or no storage.',
    labelNames: ['code'] as const,
    registers: [this.registry],
  });

  constructor(private readonly timers: Timers) {}

  /** Adds what every Prometheus client reports of its process, and `gatehouse_build_info`. */
  observeProcess(version: string, revision: string): void {
    collectDefaultMetrics({ register: this.registry, prefix: PREFIX });
    // The names of these gauges end in `_total`, which is for counters. Those with types remain.
    for (const kind of ['resources', 'handles', 'requests']) {
      this.registry.removeSingleMetric(`${PREFIX}nodejs_active_${kind}_total`);
    }
    new Gauge({
      name: 'gatehouse_build_info',
      help: 'Always 1; the labels are the version and the commit of Gatehouse, and the version of Node.js.',
      labelNames: ['version', 'revision', 'node_version'] as const,
      registers: [this.registry],
    }).set({ version, revision, node_version: process.version }, 1);
  }

  /** Adds counters of paths where a counter here would cost too much. */
  observeCounts<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Labelled<Label>,
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { value, ...labels } of read()) {
          this.inc(labels as unknown as LabelValues<Label>, value);
        }
      },
    });
  }

  /** Returns the series of an instrument; none if it was not added. */
  async seriesOf(name: string) {
    const found = await this.registry.getSingleMetric(name)?.get();
    return (found?.values ?? []) as { labels: Record<string, string>; value: number }[];
  }

  /** Adds a gauge, which is NaN when its value is not known. */
  observe(name: string, help: string, read: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read() ?? NaN);
      },
    });
  }

  /**
   * Adds a gauge read after the others: the one of the pool would count this question. It is NaN when its
   * value is not known in time.
   */
  ask(name: string, help: string, read: () => Promise<number | null>): void {
    const answer = (): Promise<number | null> => this.inTime(read, null);
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        this.set((await answer()) ?? NaN);
      },
    });
  }

  /** Adds a gauge with labels, read after the others. It has no series when they are not known in time. */
  observeEach<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Labelled<Label> | Promise<Labelled<Label>>,
  ): void {
    const answer = (): Promise<Labelled<Label>> => this.inTime(read, []);
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        const rows = await answer();
        this.reset();
        for (const { value, ...labels } of rows) {
          this.set(labels as unknown as LabelValues<Label>, value);
        }
      },
    });
  }

  private inTime<Value>(read: () => Value | Promise<Value>, otherwise: Value): Promise<Value> {
    const answer = Promise.resolve()
      .then(read)
      .catch(() => otherwise);
    return this.timers.inTime(ANSWER_MS, answer, otherwise);
  }
}
