import { tracesWanted } from './tracing-environment.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe(tracesWanted.name, () => {
  it.each([
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'OTLP', OTEL_SDK_DISABLED: 'false' },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  ])('is on with %j', (environment) => {
    expect(tracesWanted(environment)).toEqual({ isOn: true, warning: null });
  });

  it.each([
    {},
    { OTEL_SERVICE_NAME: 'gatehouse' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
  ])('is off with %j', (environment) => {
    expect(tracesWanted(environment)).toEqual({ isOn: false, warning: null });
  });

  it('reports an exporter or a protocol that is not supported', () => {
    expect(tracesWanted({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' })).toEqual({
      isOn: false,
      warning: expect.stringContaining('zipkin'),
    });
    expect(tracesWanted({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toEqual({
      isOn: true,
      warning: expect.stringContaining('http/json, not grpc'),
    });
  });
});
