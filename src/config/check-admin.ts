import { isLoopbackHost } from '../policy/flow/return-address.js';
import type { ConfigurationReport } from './configuration-error.js';
import type { Values, VariableName } from './environment/env.js';
import type { ProviderSettings } from './providers.config.js';

/** Checks that an administration API that is switched on can be used, and by those who were meant. */
export function checkAdmin(
  values: Values,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  if (values.ADMIN_PORT === null || report.has('ADMIN_PORT')) {
    return;
  }
  if (values.ADMIN_PORT !== 0 && [values.PORT, values.METRICS_PORT].includes(values.ADMIN_PORT)) {
    report.problem('ADMIN_PORT', 'must not be the same as PORT or METRICS_PORT.');
  }
  const names = ['ADMIN_TOKENS_FILE', 'ADMIN_TLS_CLIENT_CA_PATH', 'ADMIN_LOGIN_PROVIDER'] as const;
  if (names.every((name) => values[name] === null && !report.has(name))) {
    report.problem('ADMIN_PORT', `admits no caller: set one of ${names.join(', ')}.`);
  }
  checkTls(values, report);
  checkLogin(values, providers, report);
}

function checkTls(values: Values, report: ConfigurationReport): void {
  const [cert, key] = ['ADMIN_TLS_CERT_PATH', 'ADMIN_TLS_KEY_PATH'] as const;
  const isOn = values[cert] !== null || values[key] !== null;
  const reasons: [VariableName, string, boolean][] = [
    [cert, 'is missing beside ADMIN_TLS_KEY_PATH.', isOn],
    [key, 'is missing beside ADMIN_TLS_CERT_PATH.', isOn],
    [cert, 'is missing: client certificates need TLS.', values.ADMIN_TLS_CLIENT_CA_PATH !== null],
  ];
  for (const [name, message, isNeeded] of reasons) {
    if (isNeeded && values[name] === null) {
      report.problemOnce(name, message);
    }
  }
  const host = values.ADMIN_HOST;
  if (!isOn && !report.has('ADMIN_HOST') && !isLoopbackHost(host === '::1' ? '[::1]' : host)) {
    report.warn(
      `ADMIN_HOST is ${host} without ADMIN_TLS_CERT_PATH: tokens and personal data cross the network unencrypted. Set the certificate, or let only a proxy that ends TLS reach the port.`,
    );
  }
}

function checkLogin(
  values: Values,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  const id = values.ADMIN_LOGIN_PROVIDER;
  if (id === null) {
    return;
  }
  if (!providers.some((provider) => provider.id === id)) {
    report.problemOnce('ADMIN_LOGIN_PROVIDER', `names ${id}, which is not configured.`);
  }
  if (values.ADMIN_LOGIN_READ_GROUPS.length + values.ADMIN_LOGIN_OPERATE_GROUPS.length === 0) {
    report.problemOnce(
      'ADMIN_LOGIN_PROVIDER',
      'admits no administrator: set ADMIN_LOGIN_READ_GROUPS or ADMIN_LOGIN_OPERATE_GROUPS.',
    );
  }
  if (values.ADMIN_PUBLIC_URL === null) {
    report.problemOnce('ADMIN_PUBLIC_URL', 'is missing: the provider returns browsers to it.');
  }
}
