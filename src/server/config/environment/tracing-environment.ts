import type { EnvironmentText } from './variable.js';

export interface TracesWanted {
  readonly isOn: boolean;
  /** The reason why the requested tracing is not enabled; null = none. */
  readonly warning: string | null;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/** Reads the variables of OpenTelemetry that enable tracing. The SDK reads the others. */
export function tracesWanted(environment: EnvironmentText): TracesWanted {
  const valueOf = (name: string): string => (environment[name] ?? '').trim().toLowerCase();
  const exporter = valueOf('OTEL_TRACES_EXPORTER');
  const isConfigured = exporter !== '' || ENDPOINTS.some((name) => valueOf(name) !== '');
  if (!isConfigured || exporter === 'none' || valueOf('OTEL_SDK_DISABLED') === 'true') {
    return { isOn: false, warning: null };
  }
  if (exporter !== '' && exporter !== 'otlp') {
    const warning = `OTEL_TRACES_EXPORTER=${exporter} is not known here: traces are off. Use otlp.`;
    return { isOn: false, warning };
  }
  const protocol = PROTOCOLS.map(valueOf).find((value) => value !== '');
  const isOther = protocol !== undefined && protocol !== 'http/json';
  return {
    isOn: true,
    warning: isOther ? `Traces are sent as OTLP http/json, not ${protocol}.` : null,
  };
}
