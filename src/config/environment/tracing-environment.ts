import type { EnvironmentText } from '../environment-sources.js';

export interface TracesWanted {
  readonly isOn: boolean;
  /** Why what was asked for is not what is done. */
  readonly warning: string | null;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * Whether the standard variables ask for traces (OpenTelemetry specification, SDK environment
 * variables). The other `OTEL_*` variables are read by the SDK.
 */
export function tracesWanted(environment: EnvironmentText): TracesWanted {
  const valueOf = (name: string): string => (environment[name] ?? '').trim().toLowerCase();
  const exporter = valueOf('OTEL_TRACES_EXPORTER');
  const isAsked = exporter !== '' || ENDPOINTS.some((name) => valueOf(name) !== '');
  if (!isAsked || exporter === 'none' || valueOf('OTEL_SDK_DISABLED') === 'true') {
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
