import { installTracing } from '../common/trace.js';
import { readVersion } from '../config/version.js';

/** Sends what is left, and ends. */
export type StopTracing = () => Promise<void>;

/**
 * Switches traces on: to an OTLP receiver, as the standard `OTEL_*` variables say, which the SDK
 * reads by itself. A server without traces never loads it.
 */
export async function startTracing(): Promise<StopTracing> {
  const [api, hooks, core, resources, sdk, exporter, { OtelTracing }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('./otel-tracing.js'),
  ]);
  const version = readVersion();
  api.context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({
          'service.name': 'gatehouse',
          'service.version': version,
        }),
      )
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  installTracing(new OtelTracing(provider.getTracer('gatehouse', version)));
  return () => provider.shutdown();
}
