import { context, propagation } from '@opentelemetry/api';
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
import { Logger } from '@nestjs/common';
import { installTracing } from '../common/trace.js';
import { readVersion } from '../config/version.js';
import { OtelTracing } from './otel-tracing.js';

/** Sends what is left, and ends. */
export type StopTracing = () => Promise<void>;

/**
 * Switches traces on: to an OTLP receiver, as the standard `OTEL_*` variables say, which the SDK
 * reads by itself. A server without traces never loads it.
 */
export function startTracing(): StopTracing {
  const version = readVersion();
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
      // A receiver that is away costs the last traces, and not the success of the stop.
      new Logger('Tracing').warn(`The last traces were not sent: ${String(error)}`);
    });
}
