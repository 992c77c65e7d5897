import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FORWARDED_FORMATS } from '../../src/core/policy/certificate/forwarded-certificate.js';
import { at, type Json } from '../chart/render.js';
import { EnvoyTypes } from './envoy-types.js';

const PROXIES = new URL('../../docker/proxies/', import.meta.url);
const text = readFileSync(new URL('envoy.yaml', PROXIES), 'utf8');

const envoy = parse(text) as Json;

describe('docker/proxies/envoy.yaml', () => {
  let types: EnvoyTypes;

  beforeAll(async () => {
    types = await EnvoyTypes.load();
  });

  it('contains only fields and values of the API of Envoy', () => {
    expect(types.problemsIn(envoy)).toEqual([]);
  });

  it.each([
    ['an unknown field', 'stat_prefix: public', 'stat_prefx: public', 2],
    ['an unknown value', 'SANITIZE_SET', 'SANITIZE_ALL', 1],
    ['an unknown type', 'router.v3.Router', 'router.v3.Rooter', 2],
    ['a wrong type', '{ chain: true }', '{ chain: yes please }', 1],
    ['a port out of range', 'port_value: 8443', 'port_value: 84430', 1],
    ['a wrong duration', 'timeout: 75s }', 'timeout: 75 }', 2],
    ['a missing field', 'address: gatehouse, ', '', 1],
    ['a missing choice', 'match: { prefix: / }', 'match: {}', 2],
    ['a deprecated field', 'max_verify_depth: 3', 'match_subject_alt_names: [{ exact: a }]', 1],
  ])('fails the check with %s', (_what, present, later, count) => {
    const problems = types.problemsIn(parse(text.replaceAll(present, later)));
    expect(problems).toHaveLength(count);
  });

  it('removes the certificate headers of clients on both ports, and sets its own on one', () => {
    const managers = [0, 1].map((index) =>
      at(envoy, `static_resources.listeners.${index}.filter_chains.0.filters.0.typed_config`),
    );
    expect(managers).toMatchObject([
      { forward_client_cert_details: 'SANITIZE' },
      {
        forward_client_cert_details: 'SANITIZE_SET',
        set_current_client_cert_details: { chain: true },
      },
    ]);
    const own = FORWARDED_FORMATS.envoy.certificate;
    const nginx = readFileSync(new URL('nginx.conf', PROXIES), 'utf8');
    const removed = [...nginx.matchAll(/^ {2}proxy_set_header (\S*(?:cert|ssl)\S*) /gim)].map(
      (match) => String(match[1]).toLowerCase(),
    );
    expect(removed).toContain(own);
    for (const manager of managers) {
      expect(at(manager, 'common_http_protocol_options.headers_with_underscores_action')).toBe(
        'DROP_HEADER',
      );
      const names = at(manager, 'route_config.request_headers_to_remove') as string[];
      expect([...names, own].sort()).toEqual(removed.sort());
    }
  });

  it('accepts only certificates of the authorities', () => {
    const contexts = [0, 1].map((index) =>
      at(
        envoy,
        `static_resources.listeners.${index}.filter_chains.0.transport_socket.typed_config`,
      ),
    );
    expect(at(contexts[0], 'common_tls_context.validation_context')).toBeUndefined();
    expect(at(contexts[1], 'common_tls_context.validation_context')).toEqual({
      trusted_ca: { filename: '/etc/gatehouse/tls/client-ca.pem' },
      max_verify_depth: 3,
    });
  });
});
