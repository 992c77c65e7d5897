const LABELS = 'namespace="default",service="gate-gatehouse-metrics"';
const LOGIN = 'method="POST",route="/v1/auth"';

export interface Case {
  readonly alert: string;
  readonly when: string;
  /** Samples at intervals of a minute, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
  readonly after: string;
  readonly fires: boolean;
}

const requests = (status: number, route: string, perMinute: number) => ({
  [`gatehouse_http_request_duration_seconds_count{${LABELS},route="${route}",status="${status}"}`]: `0+${perMinute}x600`,
});

const between = (name: string, labels: string, below: string, bound: string) => ({
  [`${name}_bucket{${LABELS},${labels}le="${below}"}`]: '0x600',
  [`${name}_bucket{${LABELS},${labels}le="${bound}"}`]: '0+60x600',
  [`${name}_bucket{${LABELS},${labels}le="+Inf"}`]: '0+60x600',
});

const gauge = (name: string, value: number) => ({ [`${name}{${LABELS}}`]: `${value}x600` });

const labelled = (name: string, labels: string, value: number) => ({
  [`${name}{${LABELS},${labels}}`]: `${value}x600`,
});

const ready = (pod: string, values: string) => ({
  [`gatehouse_ready{${LABELS},pod="${pod}"}`]: values,
});

/** Time starts at 0 in these tests. */
const endsAfterDays = (kind: string, days: number) =>
  labelled(
    'gatehouse_certificate_expiry_timestamp_seconds',
    `kind="${kind}",variable="ADMIN_TLS_CERT_PATH",name="gate.example"`,
    days * 86_400,
  );

const diskLeft = (bytes: number) => ({
  ...gauge('gatehouse_data_directory_free_bytes', bytes),
  ...gauge('gatehouse_data_directory_size_bytes', 1000),
});

const openFiles = (open: number) => ({
  ...gauge('gatehouse_process_open_fds', open),
  ...gauge('gatehouse_process_max_fds', 1000),
});

const checks = (unknown: number, eligible: number) => ({
  [`gatehouse_eligibility_checks_total{${LABELS},provider="okta",outcome="unknown"}`]: `0+${unknown}x600`,
  [`gatehouse_eligibility_checks_total{${LABELS},provider="okta",outcome="eligible"}`]: `0+${eligible}x600`,
});

const introspections = (refused: number, ok: number, resourceServer = 'relay') => {
  const name = 'gatehouse_resource_server_requests_total';
  const labels = `${LABELS},request="introspection",resource_server="${resourceServer}"`;
  return {
    [`${name}{${labels},outcome="refused",reason="invalid-client"}`]: `0+${refused}x600`,
    [`${name}{${labels},outcome="ok"}`]: `0+${ok}x600`,
  };
};

const programs = (name: string, label: string, values: string) => ({
  [`gatehouse_program_${name}{${LABELS},${label}}`]: values,
});

const RELAY = 'resource_server="relay"';

const streams = (all: string, paused: string) => ({
  [`gatehouse_event_streams{${LABELS},${RELAY}}`]: all,
  [`gatehouse_event_streams_paused{${LABELS},${RELAY}}`]: paused,
});

const loginTime = (below: string, bound: string) =>
  between('gatehouse_http_request_duration_seconds', `${LOGIN},`, below, bound);

const fired = (
  alert: string,
  when: string,
  after: string,
  series: Readonly<Record<string, string>>,
): Case => ({ alert, when, after, series, fires: true });

const silent = (alert: string, when: string, series: Readonly<Record<string, string>>): Case => ({
  alert,
  when,
  after: '5h',
  series,
  fires: false,
});

/** Series of metrics, and whether an alert of the chart fires for them. */
export const CASES: readonly Case[] = [
  fired('GatehouseDown', 'no replica is there', '6m', {}),
  fired('GatehouseDown', 'none of them answers', '6m', gauge('up', 0)),
  silent('GatehouseDown', 'one answers', gauge('up', 1)),
  fired('GatehouseNotReady', 'all answer, and none is ready', '6m', {
    ...ready('a', '0x600'),
    ...ready('b', '0x600'),
  }),
  silent('GatehouseNotReady', 'one is ready', { ...ready('a', '0x600'), ...ready('b', '1x600') }),
  silent('GatehouseNotReady', 'all start again for four minutes', {
    ...ready('a', '1x10 0x4 1x600'),
    ...ready('b', '1x10 0x4 1x600'),
  }),
  fired('GatehouseErrorBudgetBurn', 'one request in ten fails', '10m', {
    ...requests(503, '/v1/auth', 10),
    ...requests(200, '/v1/auth', 90),
  }),
  silent('GatehouseErrorBudgetBurn', 'one in ten is refused for what it is', {
    ...requests(403, '/v1/auth', 10),
    ...requests(200, '/v1/auth', 90),
  }),
  silent('GatehouseErrorBudgetBurn', 'probes alone are refused', {
    ...requests(503, '/readyz', 50),
    ...requests(200, '/v1/auth', 50),
  }),
  fired('GatehouseLoginSlow', 'logins take a second', '20m', loginTime('0.5', '1')),
  silent('GatehouseLoginSlow', 'logins take a tenth', loginTime('0.05', '0.1')),
  fired(
    'GatehouseRevocationLate',
    'withdrawals take minutes',
    '20m',
    between('gatehouse_revocation_seconds', '', '60', '300'),
  ),
  silent(
    'GatehouseRevocationLate',
    'they take seconds',
    between('gatehouse_revocation_seconds', '', '1', '5'),
  ),
  fired(
    'GatehouseEligibilityStale',
    'no identity was re-checked for two days',
    '16m',
    gauge('gatehouse_eligibility_oldest_check_seconds', 172_801),
  ),
  silent(
    'GatehouseEligibilityStale',
    'every identity was re-checked a minute ago',
    gauge('gatehouse_eligibility_oldest_check_seconds', 60),
  ),
  fired('GatehouseProviderUnknown', 'nine in ten get no answer', '35m', checks(9, 1)),
  silent('GatehouseProviderUnknown', 'one in ten gets none', checks(1, 9)),
  fired('GatehouseProviderUnknown', 'nine in ten are refused for the client', '35m', {
    [`gatehouse_eligibility_checks_total{${LABELS},provider="okta",outcome="invalid_client"}`]:
      '0+9x600',
    [`gatehouse_eligibility_checks_total{${LABELS},provider="okta",outcome="eligible"}`]: '0+1x600',
  }),
  fired('GatehouseProviderClientRefused', 'one request was refused', '20m', {
    [`gatehouse_provider_failures_total{${LABELS},provider="okta",cause="invalid_client"}`]:
      '0x15 1x600',
  }),
  fired('GatehouseProviderClientRefused', 'its service account was refused', '20m', {
    [`gatehouse_provider_failures_total{${LABELS},provider="google",cause="service_account_refused"}`]:
      '0x15 1x600',
  }),
  fired('GatehouseProviderClientRefused', 'Microsoft Graph refused to list groups', '20m', {
    [`gatehouse_provider_failures_total{${LABELS},provider="entra",cause="groups_refused"}`]:
      '0x15 1x600',
  }),
  fired('GatehouseProviderClientRefused', 'an organisation is missing', '20m', {
    [`gatehouse_provider_failures_total{${LABELS},provider="github",cause="organization_missing"}`]:
      '0x15 1x600',
  }),
  silent('GatehouseProviderClientRefused', 'the provider fails otherwise', {
    [`gatehouse_provider_failures_total{${LABELS},provider="okta",cause="invalid_client"}`]:
      '0x600',
    [`gatehouse_provider_failures_total{${LABELS},provider="okta",cause="timeout"}`]: '0+5x600',
  }),
  fired(
    'GatehouseFileUnused',
    'a changed file is invalid',
    '6m',
    gauge('gatehouse_configuration_files_unused', 1),
  ),
  silent(
    'GatehouseFileUnused',
    'every file is in use',
    gauge('gatehouse_configuration_files_unused', 0),
  ),
  fired(
    'GatehouseDatabasePoolExhausted',
    'requests wait all the time',
    '11m',
    gauge('gatehouse_database_pool_waiting', 3),
  ),
  silent('GatehouseDatabasePoolExhausted', 'requests wait now and then', {
    [`gatehouse_database_pool_waiting{${LABELS}}`]: '0 0 5 0 0 5 0 0 0x500',
  }),
  ...(['Database', 'Redis'] as const).flatMap((name) => [
    fired(
      `Gatehouse${name}Down`,
      'it does not answer',
      '3m',
      labelled('gatehouse_dependency_up', `dependency="${name.toLowerCase()}"`, 0),
    ),
    silent(
      `Gatehouse${name}Down`,
      'it answers',
      labelled('gatehouse_dependency_up', `dependency="${name.toLowerCase()}"`, 1),
    ),
  ]),
  fired('GatehouseIntrospectionFailing', 'the secret is wrong', '25m', introspections(9, 1)),
  silent('GatehouseIntrospectionFailing', 'one in ten is refused', introspections(1, 9)),
  silent('GatehouseIntrospectionFailing', 'strangers ask without a client id', {
    ...introspections(9, 0, 'unknown'),
    ...introspections(0, 1),
  }),
  silent('GatehouseIntrospectionFailing', 'most tokens are not valid', {
    ...introspections(0, 1),
    [`gatehouse_resource_server_requests_total{${LABELS},request="introspection",resource_server="relay",outcome="inactive"}`]:
      '0+9x600',
  }),
  fired(
    'GatehouseSigningKeyOld',
    'no key was made for a hundred days',
    '2h',
    labelled('gatehouse_signing_key_timestamp_seconds', 'alg="ES256"', -100 * 86_400),
  ),
  silent(
    'GatehouseSigningKeyOld',
    'the key is three months old',
    labelled('gatehouse_signing_key_timestamp_seconds', 'alg="ES256"', -90 * 86_400),
  ),
  fired(
    'GatehouseProgramTokenReused',
    'an old refresh token was used',
    '5m',
    programs('grants_ended_total', 'cause="refresh-token-reused"', '0 0 1x600'),
  ),
  silent(
    'GatehouseProgramTokenReused',
    'people end their programs',
    programs('grants_ended_total', 'cause="user"', '0+1x600'),
  ),
  fired(
    'GatehouseProgramGrantBurst',
    'everyone approves a program at once',
    '310m',
    programs('consents_total', 'step="granted"', '0+0.05x300 15+5x300'),
  ),
  silent(
    'GatehouseProgramGrantBurst',
    'people approve as many as always',
    programs('consents_total', 'step="granted"', '0+4x1500'),
  ),
  silent(
    'GatehouseProgramGrantBurst',
    'a few people begin with programs',
    programs('consents_total', 'step="granted"', '0x60 0+1x15 15x600'),
  ),
  fired(
    'GatehouseSignalsBehind',
    'a stream does not acknowledge',
    '15m',
    labelled('gatehouse_security_events_oldest_waiting_seconds', RELAY, 301),
  ),
  silent(
    'GatehouseSignalsBehind',
    'a stopped instance has not been removed yet',
    labelled('gatehouse_security_events_oldest_waiting_seconds', RELAY, 299),
  ),
  fired('GatehouseSignalsUnread', 'an instance does not poll', '30m', streams('3x600', '1x600')),
  fired('GatehouseSignalsUnread', 'no instance is left', '60m', streams('3x30 0x600', '0x600')),
  silent('GatehouseSignalsUnread', 'all instances poll', streams('3x600', '0x600')),
  silent('GatehouseSignalsUnread', 'the backend never had a stream', streams('0x600', '0x600')),
  ...(['paused', 'disabled', 'missing'] as const).map((state) =>
    fired(
      'GatehouseSignalStreamStopped',
      `the stream is ${state}`,
      '6m',
      labelled(
        'gatehouse_signal_stream_state',
        `provider="okta",state="${state}",failure="none"`,
        1,
      ),
    ),
  ),
  silent(
    'GatehouseSignalStreamStopped',
    'the stream is enabled',
    labelled('gatehouse_signal_stream_state', 'provider="okta",state="enabled",failure="none"', 1),
  ),
  fired(
    'GatehouseSignalStreamSilent',
    'no verification arrived for four hours',
    '15m',
    labelled('gatehouse_signal_stream_silent_seconds', 'provider="okta"', 4 * 3600),
  ),
  silent(
    'GatehouseSignalStreamSilent',
    'one arrived an hour ago',
    labelled('gatehouse_signal_stream_silent_seconds', 'provider="okta"', 3700),
  ),
  ...[fired, silent].map((expectation) => {
    const people = expectation === fired ? 25 : 20;
    const series = {
      ...labelled(
        'gatehouse_directory_deactivations',
        'provider="okta",state="deactivated"',
        people,
      ),
      ...labelled('gatehouse_directory_deactivations', 'provider="okta",state="limit"', 20),
    };
    const why = `${people} people of at most 20 are deactivated`;
    return expectation === fired
      ? fired('GatehouseDirectoryDeactivations', why, '2m', series)
      : silent('GatehouseDirectoryDeactivations', why, series);
  }),
  ...(['unknown', 'former'] as const).map((secret) =>
    fired(
      'GatehouseSecretWrong',
      `values need a secret that is ${secret}`,
      '6m',
      labelled('gatehouse_sealed_values', `secret="${secret}"`, 1),
    ),
  ),
  silent('GatehouseSecretWrong', 'the secrets open all values', {
    ...labelled('gatehouse_sealed_values', 'secret="previous"', 5),
    ...labelled('gatehouse_sealed_values', 'secret="unknown"', 0),
  }),
  ...(['certificate', 'authority', 'client_secret'] as const).map((kind) =>
    fired('GatehouseCertificateExpiring', `a ${kind} ends`, '2h', endsAfterDays(kind, 20)),
  ),
  silent('GatehouseCertificateExpiring', 'a certificate lasts', endsAfterDays('certificate', 40)),
  silent('GatehouseCertificateExpiring', 'a list is new', endsAfterDays('revocation_list', 7)),
  fired(
    'GatehouseCertificateExpired',
    'a certificate ended',
    '6m',
    endsAfterDays('certificate', 0),
  ),
  fired(
    'GatehouseCertificateExpired',
    'a list ends within hours',
    '6m',
    endsAfterDays('revocation_list', 0.2),
  ),
  silent('GatehouseCertificateExpired', 'a list is new', endsAfterDays('revocation_list', 1)),
  silent('GatehouseCertificateExpired', 'an old authority ended', endsAfterDays('authority', 0)),
  fired('GatehouseDiskNearlyFull', 'a twentieth is left', '15m', diskLeft(50)),
  silent('GatehouseDiskNearlyFull', 'half is left', diskLeft(500)),
  fired(
    'GatehouseConnectionsNearLimit',
    'it is full',
    '11m',
    gauge('gatehouse_live_connections', 10_000_000),
  ),
  fired('GatehouseConnectionsNearLimit', 'it has many open files', '11m', openFiles(950)),
  silent('GatehouseConnectionsNearLimit', 'it is nearly empty', {
    ...gauge('gatehouse_live_connections', 10),
    ...openFiles(50),
  }),
];
