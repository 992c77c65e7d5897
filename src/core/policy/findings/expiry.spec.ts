import { findExpiries, type Expiry } from './expiry.js';

const NOW = Date.UTC(2026, 0, 31);
const DAY = 86_400_000;

const certificate = (days: number, given: Partial<Expiry> = {}): Expiry => ({
  variable: 'ADMIN_TLS_CERT_PATH',
  kind: 'certificate',
  name: 'gate.example',
  startsAt: NOW - 90 * DAY,
  expiresAt: NOW + days * DAY,
  ...given,
});

const list = (lifetimeDays: number, leftDays: number): Expiry =>
  certificate(leftDays, {
    kind: 'revocation_list',
    startsAt: NOW - (lifetimeDays - leftDays) * DAY,
  });

const codes = (...expiries: Expiry[]) =>
  findExpiries(expiries, NOW).map(({ severity, code }) => `${severity} ${code}`);

const paramsOf = ({ variable, name, expiresAt }: Expiry) => ({ variable, name, expiresAt });

describe(findExpiries.name, () => {
  it('reports an expired certificate as an error, first', () => {
    expect(findExpiries([certificate(20), certificate(-1)], NOW)).toEqual([
      {
        severity: 'error',
        code: 'certificate-expired',
        params: paramsOf(certificate(-1)),
        message:
          'The certificate "gate.example" of ADMIN_TLS_CERT_PATH expired on 2026-01-30. Replace it.',
      },
      {
        severity: 'warning',
        code: 'certificate-expires-soon',
        params: { ...paramsOf(certificate(20)), days: 20 },
        message:
          'The certificate "gate.example" of ADMIN_TLS_CERT_PATH expires on 2026-02-20, in 20 days. Replace it.',
      },
    ]);
  });

  it('warns 21 days before the end, and not earlier', () => {
    expect(codes(certificate(21))).toEqual(['warning certificate-expires-soon']);
    expect(codes(certificate(21.01))).toEqual([]);
    expect(codes(certificate(10, { kind: 'client_secret', startsAt: null }))).toEqual([
      'warning client-secret-expires-soon',
    ]);
  });

  it('warns of a revocation list in the last quarter of its time', () => {
    expect(codes(list(7, 2))).toEqual([]);
    expect(codes(list(7, 1))).toEqual(['warning revocation-list-expires-soon']);
    expect(codes(list(7, 0))).toEqual(['error revocation-list-expired']);
    expect(codes(list(365, 22))).toEqual([]);
  });

  it('warns of an expired authority that a valid one has replaced', () => {
    const authority = (days: number) => certificate(days, { kind: 'authority' });
    expect(codes(authority(-1), authority(400))).toEqual(['warning certificate-authority-expired']);
    expect(
      codes(authority(-1), certificate(400, { variable: 'OTHER', kind: 'authority' })),
    ).toEqual(['error certificate-authority-expired']);
  });
});
