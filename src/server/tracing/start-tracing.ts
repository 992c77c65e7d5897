import type { IncomingHttpHeaders } from 'node:http';
import { Logger } from '@nestjs/common';
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { installTracing, type Tracing, type Work } from '../../common/trace.js';
import { readFullVersion } from '../../common/version.js';

/** Requested every few seconds by monitors. */
const PROBES = ['/livez', '/readyz', '/metrics'];
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
const FIRST_SERVER_ERROR = 500;

type StopTracing = () => Promise<void>;

/** The SDK reads the `OTEL_*` variables. A server without traces never loads this file. */
export function startTracing(): StopTracing {
  const version = readFullVersion();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const own = resourceFromAttributes({ 'service.name': 'gatehouse', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  installTracing(new OtelTracing(provider.getTracer('gatehouse', version)));
  return () =>
    provider.shutdown().catch((error: unknown) => {
      // An unreachable receiver loses the last traces; the stop succeeds.
      new Logger('Tracing').warn(`The last traces were not sent: ${String(error)}`);
    });
}

/** Follows the semantic conventions of OpenTelemetry for HTTP and databases. */
class OtelTracing implements Tracing {
  private readonly contexts = new WeakMap<FastifyRequest, Context>();

  constructor(private readonly tracer: Tracer) {}

  run<Result>(work: Work, does: () => Promise<Result>): Promise<Result> {
    if (work.onlyAsPart === true && trace.getActiveSpan() === undefined) {
      return does();
    }
    const { name, kind, attributes } = work;
    return this.tracer.startActiveSpan(name, { kind: KINDS[kind], attributes }, async (span) => {
      try {
        return await does();
      } catch (error) {
        markFailed(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  }

  note(attributes: Work['attributes']): void {
    trace.getActiveSpan()?.setAttributes(attributes);
  }

  ids(): { readonly trace_id?: string; readonly span_id?: string } {
    const span = trace.getActiveSpan()?.spanContext();
    return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
  }

  watch(server: FastifyInstance): void {
    server.addHook('onRequest', (request, reply, done) => {
      const started = this.begin(request);
      if (started === null) {
        done();
        return;
      }
      const span = trace.getSpan(started);
      this.contexts.set(request, started);
      reply.raw.once('close', () => span && endRequest(span, reply.statusCode));
      context.with(started, done);
    });
    // The end of a body comes from the connection, which belongs to no request.
    server.addHook('preValidation', (request, _reply, done) => {
      const started = this.contexts.get(request);
      if (started === undefined) {
        done();
      } else {
        context.with(started, done);
      }
    });
  }

  private begin(request: FastifyRequest): Context | null {
    const route = request.routeOptions.url;
    if (route !== undefined && PROBES.includes(route)) {
      return null;
    }
    const caller = propagation.extract<IncomingHttpHeaders>(context.active(), request.headers);
    const { method } = request;
    const span = this.tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          ...(route !== undefined && { 'http.route': route }),
          'gatehouse.request_id': request.id,
        },
      },
      caller,
    );
    return trace.setSpan(caller, span);
  }
}

function endRequest(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= FIRST_SERVER_ERROR) {
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The kind of failure only: messages may quote what a caller sent. */
function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
  span.setStatus({ code: SpanStatusCode.ERROR });
}
