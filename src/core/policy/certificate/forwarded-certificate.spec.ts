import {
  canonicalHeader,
  certificateHeader,
  FORWARDED_FORMATS,
  forwardedText,
  oneHeader,
  type ForwardedFormat,
  type ForwardedHeader,
} from './forwarded-certificate.js';

const sent = (name: string, value: string): ForwardedHeader => ({
  ...{ name, canonical: canonicalHeader(name), value },
});

describe('FORWARDED_FORMATS', () => {
  const PLAIN = { chain: null, verified: null, isUnverified: false };

  it.each<[keyof typeof FORWARDED_FORMATS, ForwardedFormat]>([
    [
      'ingress-nginx',
      {
        ...{ ...PLAIN, certificate: 'ssl-client-cert', decoder: 'url-pem' },
        verified: { header: 'ssl-client-verify', value: 'SUCCESS' },
      },
    ],
    ['envoy', { ...PLAIN, certificate: 'x-forwarded-client-cert', decoder: 'xfcc' }],
    ['traefik', { ...PLAIN, certificate: 'x-forwarded-tls-client-cert', decoder: 'base64-der' }],
    [
      'haproxy',
      {
        ...{ ...PLAIN, certificate: 'x-ssl-client-cert', decoder: 'base64-der' },
        verified: { header: 'x-ssl-client-verify', value: '0' },
      },
    ],
    [
      'aws-alb-verify',
      { ...PLAIN, certificate: 'x-amzn-mtls-clientcert-leaf', decoder: 'url-pem' },
    ],
    [
      'aws-alb-passthrough',
      {
        ...{ ...PLAIN, certificate: 'x-amzn-mtls-clientcert', decoder: 'url-pem' },
        isUnverified: true,
      },
    ],
    [
      'rfc9440',
      { ...PLAIN, certificate: 'client-cert', decoder: 'rfc9440', chain: 'client-cert-chain' },
    ],
  ])('reads the headers of %s', (preset, format) => {
    expect(FORWARDED_FORMATS[preset]).toEqual(format);
  });
});

describe(canonicalHeader.name, () => {
  it.each([
    ['Client-Cert', 'client-cert'],
    ['client_cert', 'client-cert'],
    ['client__.cert', 'client-cert'],
    ['_client-cert_', 'client-cert'],
    ['X-SSL-Client-S-DN2', 'x-ssl-client-s-dn2'],
  ])('spells %s as %s', (name, canonical) => {
    expect(canonicalHeader(name)).toBe(canonical);
  });
});

describe(certificateHeader.name, () => {
  it.each([
    ['Client-Cert', 'client-cert'],
    ['client_cert_chain', 'client-cert-chain'],
    ['SSL_Client_Verify', 'ssl-client-verify'],
    ['X-Amzn-Mtls-Clientcert-Leaf', 'x-amzn-mtls-clientcert-leaf'],
    ['X-ARR-ClientCert', 'x-arr-clientcert'],
    ['X-Client-Cert', 'x-client-cert'],
    ['X-Forwarded-Client-Cert', 'x-forwarded-client-cert'],
    ['X-Forwarded-Tls-Client-Cert-Info', 'x-forwarded-tls-client-cert-info'],
    ['X-Service-Client-Cert', 'x-service-client-cert'],
    ['X_SSL_Client_CN', 'x-ssl-client-cn'],
    ['Cf-Client-Cert-Der', 'cf-client-cert-der'],
  ])('treats %s as a claim about a certificate', (name, canonical) => {
    expect(certificateHeader(name, new Set())).toBe(canonical);
  });

  it.each(['accept', 'x-forwarded-for', 'my-client-cert', 'x-clientcert'])(
    'treats %s as a claim only where the configuration names it',
    (name) => {
      expect(certificateHeader(name, new Set())).toBeNull();
      expect(certificateHeader(name, new Set([name]))).toBe(name);
    },
  );
});

describe(oneHeader.name, () => {
  it('returns the value without the spaces around it', () => {
    const headers = [sent('accept', 'x'), sent('client-cert', ' :AA==: ')];
    expect(oneHeader(headers, 'client-cert')).toEqual({ value: ':AA==:', isTwice: false });
  });

  it('returns no value for another spelling of the name, and counts it as a duplicate', () => {
    const other = sent('client_cert', 'forged');
    expect(oneHeader([other], 'client-cert')).toEqual({ value: null, isTwice: false });
    expect(oneHeader([other, sent('client-cert', 'own')], 'client-cert')).toEqual({
      ...{ value: 'own', isTwice: true },
    });
  });

  it.each(['', ' ', '(null)', 'NONE', '{http.request.tls.client.certificate_pem}', '{}'])(
    'reads the placeholder %j as absent',
    (value) => {
      expect(oneHeader([sent('client-cert', value)], 'client-cert').value).toBeNull();
    },
  );

  it.each(['none', 'null', 'a{}', '{}a', 'x(null)'])('reads %j as a value', (value) => {
    expect(oneHeader([sent('client-cert', value)], 'client-cert').value).toBe(value);
  });

  it('returns no value where the header is not sent', () => {
    expect(oneHeader([], 'client-cert')).toEqual({ value: null, isTwice: false });
  });
});

describe(forwardedText.name, () => {
  const { 'ingress-nginx': nginx, rfc9440, traefik } = FORWARDED_FORMATS;
  const cert = sent('ssl-client-cert', 'PEM');
  const verify = (value: string): ForwardedHeader => sent('ssl-client-verify', value);

  it('returns a certificate that the proxy verified', () => {
    expect(forwardedText([cert, verify('SUCCESS')], nginx)).toEqual({
      ...{ kind: 'certificate', text: 'PEM', chain: null },
    });
  });

  it.each([
    ['failed', [cert, verify('FAILED:expired')]],
    ['is in another case', [cert, verify('success')]],
    ['is absent', [cert]],
  ])('refuses a certificate whose verification %s', (_what, headers) => {
    expect(forwardedText(headers, nginx)).toEqual({ kind: 'refused', reason: 'not-verified' });
  });

  it.each([
    ['certificate', [cert, sent('SSL_Client_Cert', 'other'), verify('SUCCESS')], nginx],
    ['verification', [cert, verify('SUCCESS'), sent('ssl_client_verify', 'SUCCESS')], nginx],
    [
      'chain',
      [
        sent('client-cert', ':AA==:'),
        sent('client-cert-chain', ':AA==:'),
        sent('client_cert_chain', ':BB==:'),
      ],
      rfc9440,
    ],
    ['certificate, also an empty one,', [cert, sent('ssl_client_cert', '')], nginx],
  ])('refuses a %s that is sent twice', (_what, headers, format) => {
    expect(forwardedText(headers, format)).toEqual({ kind: 'refused', reason: 'header-twice' });
  });

  it('reports an absent certificate, also next to a verification', () => {
    expect(forwardedText([], traefik)).toEqual({ kind: 'absent' });
    expect(forwardedText([verify('SUCCESS')], nginx)).toEqual({ kind: 'absent' });
    expect(forwardedText([sent('client-cert-chain', ':AA==:')], rfc9440)).toEqual({
      kind: 'absent',
    });
  });

  it('returns the chain of its own header', () => {
    const headers = [sent('client-cert', ':AA==:'), sent('client-cert-chain', ':BB==:')];
    expect(forwardedText(headers, rfc9440)).toEqual({
      ...{ kind: 'certificate', text: ':AA==:', chain: ':BB==:' },
    });
    expect(forwardedText(headers.slice(0, 1), rfc9440)).toEqual({
      ...{ kind: 'certificate', text: ':AA==:', chain: null },
    });
  });
});
