import { resolveSettings } from './resolve-settings.js';

const MTLS = 'SERVICE_FEATURE_AUTH_MTLS__';
const DIRECT = {
  [`${MTLS}ENABLED`]: '1',
  [`${MTLS}MODE`]: 'direct',
  [`${MTLS}TLS_PORT`]: '8443',
  [`${MTLS}TLS_CERT_PATH`]: '/mnt/tls.crt',
  [`${MTLS}TLS_KEY_PATH`]: '/mnt/tls.key',
  [`${MTLS}CA_PATH`]: '/mnt/ca',
};
const VERIFIED = { [`${MTLS}ENABLED`]: '1', [`${MTLS}VERIFY_FORWARDED`]: '1' };
const CUSTOM_HEADER = `${MTLS}CUSTOM_CERTIFICATE_HEADER`;

describe('checkSettings', () => {
  it.each([
    [{ METRICS_PORT: '3000' }, 'METRICS_PORT'],
    [{ METRICS_PORT: '3100', ADMIN_PORT: '3100', ADMIN_TOKENS_FILE: '/mnt/a' }, 'ADMIN_PORT'],
    [{ SERVICE_TLS_CERT_PATH: '/mnt/tls.crt' }, 'SERVICE_TLS_KEY_PATH'],
    [{ SERVICE_TLS_KEY_PATH: '/mnt/tls.key' }, 'SERVICE_TLS_CERT_PATH'],
    [{ REDIS_SENTINELS: 'a:26379' }, 'REDIS_URL'],
    [{ ...DIRECT, METRICS_PORT: '8443' }, `${MTLS}TLS_PORT`],
    [{ ...DIRECT, ADMIN_PORT: '8443', ADMIN_TOKENS_FILE: '/mnt/a' }, `${MTLS}TLS_PORT`],
    [{ [`${MTLS}ENABLED`]: '1', [`${MTLS}FORWARDED_PRESET`]: 'custom' }, CUSTOM_HEADER],
    [{ ...VERIFIED, [`${MTLS}FORWARDED_PRESET`]: 'envoy' }, `${MTLS}CA_PATH`],
    [{ ...VERIFIED, [`${MTLS}CA_PATH`]: '/mnt/ca' }, `${MTLS}VERIFY_FORWARDED`],
  ])('refuses the contradiction %j', (environment, variable) => {
    expect(() => resolveSettings(environment)).toThrow(`one problem:\n  ${variable}: `);
  });

  it('accepts the same variables where they contradict nothing', () => {
    const ports = { PORT: '0', METRICS_PORT: '0', ADMIN_PORT: '0', ADMIN_TOKENS_FILE: '/mnt/a' };
    for (const environment of [ports, DIRECT, { ...VERIFIED, [`${MTLS}ENABLED`]: '0' }]) {
      expect(() => resolveSettings(environment)).not.toThrow();
    }
  });

  it('does not judge a variable by the default of another that is wrong', () => {
    const environment = { ...DIRECT, [`${MTLS}TLS_PORT`]: '3000', PORT: 'x' };
    expect(() => resolveSettings(environment)).toThrow('one problem:\n  PORT: ');
  });
});
