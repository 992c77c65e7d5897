import { isDocumentAddress, knownProgram } from './known-programs.js';
import { askedScopes, isGrantable, isScopeName } from './program-scopes.js';
import { judgeProgram } from './programs.js';
import { isRedirectAllowable, isRegisteredRedirect } from './redirect-address.js';

describe(isRegisteredRedirect.name, () => {
  it.each([
    ['https://a.example/cb', 'https://a.example/cb', true],
    ['https://a.example/cb', 'https://a.example/cb/', false],
    ['https://a.example/cb', 'https://a.example/cb?x=1', false],
    ['https://a.example/cb', 'https://a.example:8443/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb', true],
    ['http://localhost:1/cb', 'http://localhost:2/cb', true],
    ['http://[::1]/cb', 'http://[::1]:5000/cb', true],
    ['http://localhost/cb', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/other', false],
    ['http://127.0.0.1/cb?a=1', 'http://127.0.0.1:5000/cb?a=2', false],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1@evil.example/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.example/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb#x', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000\\@evil.example/cb', false],
  ])('compares %s with %s: %s', (registered, given, expected) => {
    expect(isRegisteredRedirect(registered, given)).toBe(expected);
  });
});

describe(isRedirectAllowable.name, () => {
  it.each([
    ['https://a.example/cb', true],
    ['http://localhost:3000/cb', true],
    ['http://a.example/cb', false],
    ['http://127.0.0.2/cb', false],
    ['https://user@a.example/cb', false],
    ['https://@a.example/cb', false],
    ['https://a.example/cb#x', false],
    ['https://*.a.example/cb', false],
    ['cursor://mcp/cb', false],
    ['cb', false],
  ])('judges %s as %s', (address, expected) => {
    expect(isRedirectAllowable(address, false)).toBe(expected);
  });

  it('accepts the scheme of an app only where the operator configured it, and none that runs code', () => {
    expect(isRedirectAllowable('cursor://mcp/cb', true)).toBe(true);
    expect(isRedirectAllowable('javascript:alert(1)', true)).toBe(false);
    expect(isRedirectAllowable('data:text/html,x', true)).toBe(false);
  });
});

describe(knownProgram.name, () => {
  it.each([
    ['https://claude.ai/oauth/claude-code-client-metadata', true],
    ['https://chatgpt.com/oauth/client.json', true],
    ['https://chatgpt.com/oauth/codex/client.json', true],
    ['https://chatgpt.com/oauth//client.json', false],
    ['https://chatgpt.com/oauth/a/b/client.json', false],
    ['https://chatgpt.com/oauth/..%2f/client.json', false],
    ['https://claude.ai/oauth/claude-code-client-metadata?x', false],
    ['https://claude.ai.evil.example/oauth/claude-code-client-metadata', false],
  ])('judges %s as %s', (id, expected) => {
    expect(knownProgram(id) !== null).toBe(expected);
  });
});

describe(isDocumentAddress.name, () => {
  it.each([
    ['https://a.example/client.json', true],
    ['https://a.example:8443/client.json', true],
    ['https://a.example', false],
    ['https://a.example/', false],
    ['http://a.example/client.json', false],
    ['https://a.example/client.json?x', false],
    ['https://a.example/client.json#x', false],
    ['https://user@a.example/client.json', false],
    ['https://a.example/a/../client.json', false],
    ['https://a.example/./client.json', false],
    ['https://A.example/client.json', false],
    ['inspector', false],
  ])('judges %s as %s', (id, expected) => {
    expect(isDocumentAddress(id)).toBe(expected);
  });
});

describe(judgeProgram.name, () => {
  const configured = [{ id: 'inspector', name: 'Inspector', redirectUris: [] }];
  const document = 'https://a.example/client.json';
  const claude = 'https://claude.ai/oauth/mcp-oauth-client-metadata';

  it.each([
    ['known', 'inspector', 'named'],
    ['known', claude, 'named'],
    ['known', 'https://chatgpt.com/oauth/codex/client.json', 'named'],
    ['known', 'https://chatgpt.com/oauth/6b0f5c/client.json', 'pattern'],
    ['known', document, null],
    ['any', document, 'any-document'],
    ['any', claude, 'named'],
    ['any', 'other', null],
    ['known', 'gatehouse-file', 'named'],
    ['any', 'gatehouse-file', 'named'],
    [['gatehouse-file'], 'gatehouse-file', 'named'],
    [[document], 'gatehouse-file', null],
    [[document], document, 'named'],
    [[document], 'inspector', null],
    [[document], claude, null],
  ] as const)('accepts with %j %s: %s', (clients, id, expected) => {
    expect(judgeProgram(id, { clients }, configured)).toBe(expected);
  });
});

describe('the scopes of programs', () => {
  const scopes = {
    read: { text: 'Read', requires: [] },
    write: { text: 'Write', requires: ['read'] },
    admin: { text: 'All', requires: ['write'] },
  };

  it.each([
    [undefined, ['read']],
    ['', ['read']],
    ['offline_access unknown', ['read']],
    ['write', ['read', 'write']],
    ['admin unknown', ['read', 'write', 'admin']],
    ['toString constructor', ['read']],
  ])('reads %j as %j', (asked, expected) => {
    expect(askedScopes(asked, scopes, ['read'])).toEqual(expected);
  });

  it.each([
    [['read'], true],
    [['read', 'write'], true],
    [['write'], false],
    [[], false],
    [['read', 'write', 'admin'], false],
    [['read', 'unknown'], false],
    [['constructor'], false],
    [['read', '__proto__'], false],
  ])('lets a person grant %j of read and write: %s', (chosen, expected) => {
    expect(isGrantable(chosen, ['read', 'write'], scopes)).toBe(expected);
  });

  it.each([
    ['notes:read', true],
    ['offline_access', false],
    ['two words', false],
    ['"', false],
    ['a'.repeat(65), false],
  ])('judges the name %j as %s', (name, expected) => {
    expect(isScopeName(name)).toBe(expected);
  });
});
