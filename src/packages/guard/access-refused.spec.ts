import { AccessRefused, type RefusalCode } from './access-refused.js';

const METADATA = 'https://relay.example/.well-known/oauth-protected-resource';

describe(AccessRefused.name, () => {
  it.each<[RefusalCode, number, string | null]>([
    ['invalid-request', 400, 'invalid_request'],
    ['invalid-token', 401, 'invalid_token'],
    ['token-expired', 401, 'invalid_token'],
    ['token-revoked', 401, 'invalid_token'],
    ['missing-token', 401, null],
  ])('answers %s with %i and a challenge', (code, status, error) => {
    const refusal = new AccessRefused(code, METADATA);
    const description = `error="${error}", error_description="${refusal.message}", `;
    const challenge = `Bearer ${error === null ? '' : description}resource_metadata="${METADATA}"`;
    expect(refusal).toMatchObject({ code, status, retryAfterSeconds: null });
    expect(refusal.wwwAuthenticate).toBe(challenge);
    expect(refusal.headers).toEqual({ 'cache-control': 'no-store', 'www-authenticate': challenge });
    expect(refusal.body).toEqual({ statusCode: status, code, message: refusal.message });
  });

  it('names scopes in the challenges of 401 and 403, and in no other', () => {
    const challengeOf = (code: RefusalCode) =>
      new AccessRefused(code, METADATA, 'notes:read notes:write').wwwAuthenticate;
    expect(challengeOf('missing-token')).toBe(
      `Bearer scope="notes:read notes:write", resource_metadata="${METADATA}"`,
    );
    expect(challengeOf('insufficient-scope')).toBe(
      'Bearer error="insufficient_scope", error_description="The program needs another scope for this.", ' +
        `scope="notes:read notes:write", resource_metadata="${METADATA}"`,
    );
    expect(challengeOf('invalid-request')).not.toContain(' scope=');
  });

  it('answers a program with 403, without a challenge where no scope helps', () => {
    const refusal = new AccessRefused('program-refused', METADATA, 'notes:read');
    expect(refusal).toMatchObject({ status: 403, wwwAuthenticate: null, retryAfterSeconds: null });
    expect(refusal.body).toEqual({
      statusCode: 403,
      code: 'program-refused',
      message: 'Programs are not admitted here.',
    });
  });

  it.each<RefusalCode>(['guard-starting', 'guard-lease-expired', 'guard-closed', 'unavailable'])(
    'answers %s with 503 and a time to retry, without a challenge',
    (code) => {
      const refusal = new AccessRefused(code, METADATA);
      expect(refusal).toMatchObject({ code, status: 503, wwwAuthenticate: null });
      expect(refusal.headers).toEqual({ 'cache-control': 'no-store', 'retry-after': '2' });
      expect(refusal.body).toEqual({ statusCode: 503, code, message: refusal.message });
    },
  );

  it('has a sentence for each code', () => {
    const codes = ['missing-token', 'invalid-token', 'unavailable'] as const;
    const messages = codes.map((code) => new AccessRefused(code, METADATA).message);
    expect(messages).toEqual([
      'The request has no access token.',
      'The access token is not valid here.',
      'The access token cannot be checked now.',
    ]);
  });
});
